"""What strangers, and damaged disks, hand to a sweep: each ends in a sentence, and nothing of theirs is lost."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tidemill as tm
import tidemill.sweep
from tidemill.sweep import command
from tidemill.sweep.table import printable
from waiting import wait_for

BER = """
count = "ber"
[ber]
modcod = "QPSK 8/9"
frame = "short"
esn0 = [5.9, 9]
[until]
frames = 20
"""
PROGRAM = [sys.executable, "-m", "tidemill.sweep.command"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A sweep that has been counted: its folder has ber.toml and ber.sweep."""
    folder = tmp_path_factory.mktemp("counted")
    (folder / "ber.toml").write_text(BER)
    tm.sweep.run(folder / "ber.toml", state=folder / "ber.sweep", workers=1)
    return folder


@pytest.fixture
def folder(counted, tmp_path):
    return shutil.copytree(counted, tmp_path / "it")


def sweep(folder, *words, **more):
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": folder, "text": True, "timeout": 600, **more}
    return subprocess.run([*PROGRAM, *words], check=False, **given)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "count is missing: give ber or"),
        (BER.replace("[5.9, 9]", "[" + "9" * 5000 + "]"), "no TOML: Exceeds the limit"),
        (BER.replace("[5.9, 9]", "[" + "9" * 400 + "]"), "999...: give numbers, or a range"),
        (BER.replace("[5.9, 9]", '"0:1e-9:1e6"'), "esn0 0:1e-9:1e6: these are more than 10000 numbers"),
        (BER.replace("[5.9, 9]", "[]"), r"\[ber\]: it asks for 0 points"),
        (BER.replace("QPSK 8/9", "\\u001b[31m"), r"modcod = '\\x1b\[31m': give \"all\", or some of"),
        (BER + '"\\u001b[2J" = 1\n', r"there is no \\x1b\[2J: there are"),
    ],
)
def test_a_file_that_nobody_can_mean_is_told_in_one_printable_line(text, sentence, tmp_path, capsys):
    (tmp_path / "it.toml").write_text(text)
    assert command.main([str(tmp_path / "it.toml")]) == 3
    told = capsys.readouterr().err
    assert told.removesuffix("\n").isprintable() and len(told) < 1000
    assert re.search(sentence, told), told


def test_a_file_of_an_editor_that_marks_its_encoding_is_read(tmp_path):
    (tmp_path / "it.toml").write_bytes(b"\xef\xbb\xbf" + BER.encode())
    assert len(tm.sweep.run(tmp_path / "it.toml", workers=1).rows) == 2


def test_a_file_that_can_be_read_once_only_is_enough(tmp_path):
    os.mkfifo(tmp_path / "it")
    writer = threading.Thread(target=(tmp_path / "it").write_text, args=(BER,))
    writer.start()
    assert sweep(tmp_path, "it", "--state", "s").returncode == 0
    writer.join()


@pytest.mark.parametrize(
    "axes",
    [
        {"count": "program", "program": {"command": ["x", "{a}{b}{c}{d}"], "values": {n: list(range(500)) for n in "abcd"}}},
        {"count": "policies", "policies": {"program": ["fm"] * 5000, "policy": ["fifo"] * 5000, "noise": "0:0.001:1"}},
    ],
)
def test_more_points_than_a_sweep_may_have_are_refused_before_they_are_made(axes):
    with pytest.raises(tm.sweep.SweepError, match="it asks for [0-9]+ points: give 1 to 100000"):
        tm.sweep.run(axes)


@pytest.mark.parametrize("word", ["{}", "{0}", "{a.b}", "{seed.real}", "{number:99999999999}", "{number!r}", "{number:{seed}}"])
def test_braces_hold_names_alone(word):
    values = {word[1:-1]: [1]} if word in ("{}", "{0}", "{a.b}") else {}
    with pytest.raises(tm.sweep.SweepError, match="give names alone in braces"):
        tm.sweep.run({"count": "program", "program": {"command": ["echo", word], "values": values}})


def test_what_the_sweep_itself_counts_is_no_name_of_others():
    for more in ({"values": {"runs": [1]}}, {"adds": ["failed"]}):
        program = {"command": ["echo", "{runs}"] if "values" in more else ["echo"], **more}
        with pytest.raises(tm.sweep.SweepError, match="is what the sweep itself counts"):
            tm.sweep.run({"count": "program", "program": program})


def test_a_program_that_prints_without_end_ends_the_sweep_with_a_sentence():
    endless = {"command": ["sh", "-c", "while echo 12345678901234567890123456789012345678901234567890; do :; done"]}
    wishes = {"count": "program", "program": {**endless, "adds": ["x"]}, "until": {"runs": 1}}
    with pytest.raises(tm.JobFailed, match="prints more than 1048576 bytes"):
        tm.sweep.run(wishes, workers=1)


def test_programs_end_with_the_sweep_that_runs_them(tmp_path):
    script = 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 600'
    program = {"command": ["sh", "-c", script, str(tmp_path / "pid")]}
    (tmp_path / "it.json").write_text(json.dumps({"count": "program", "program": program, "until": {"runs": 1}}))
    run = "import json, tidemill.sweep; tidemill.sweep.run(json.load(open('it.json')), workers=1)"
    for number in (signal.SIGINT, signal.SIGKILL):
        (tmp_path / "pid").unlink(missing_ok=True)
        running = subprocess.Popen([sys.executable, "-c", run], cwd=tmp_path)
        wait_for(lambda: (tmp_path / "pid").exists())
        running.send_signal(number)
        running.wait(timeout=600)
        child = int((tmp_path / "pid").read_text())
        wait_for(lambda child=child: not _runs(child))


def _runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("words", [["--status", "ber.sweep"], ["ber.toml", "--resume"], ["ber.toml", "--resume", "--json"]])
def test_standard_output_that_takes_nothing_is_told(words, folder):
    with open("/dev/full", "w") as full:
        ended = sweep(folder, *words, stdout=full)
    assert ended.returncode == 1
    assert ended.stderr.endswith("tidemill: standard output cannot be written: No space left on device\n")
    assert "Traceback" not in ended.stderr


def test_without_standard_streams_a_sweep_counts_all_the_same(folder):
    shutil.rmtree(folder / "ber.sweep")
    words = " ".join(PROGRAM)
    assert subprocess.run(["sh", "-c", f"{words} ber.toml >&- 2>&-"], cwd=folder, check=False).returncode == 0
    assert [row["frames"] for row in tm.sweep.status(folder / "ber.sweep")["rows"]] == [20, 20]


@pytest.mark.parametrize("size", ["", "abc", "-3", "1e9", "1"])
def test_what_no_mpi_can_have_set_is_no_mpi(size, monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", size)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert tm.sweep.engines.engine_here() == ("processes", "")


def signed(body):
    """As a sweep would have written it."""
    body = {name: value for name, value in body.items() if name != "sha256"}
    return json.dumps({**body, "sha256": hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()})


def _changed(body, **more):
    return {**body, **more}


def _first_point(body, **more):
    return {**body, "points": [{**body["points"][0], **more}, *body["points"][1:]]}


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {name: value for name, value in body.items() if name != "points"},
        lambda body: {name: value for name, value in body.items() if name != "target"},
        lambda body: _changed(body, points=3),
        lambda body: _changed(body, points=[]),
        lambda body: _changed(body, points=body["points"] * 2),
        lambda body: _changed(body, lost="x"),
        lambda body: _changed(body, plan=[1]),
        lambda body: _changed(body, hosts={"x": {"ranges": "a"}}),
        lambda body: _first_point(body, said=3),
        lambda body: _first_point(body, counts={"frames": "5"}),
        lambda body: _first_point(body, counts={"frames": -5}, ahead=[[0, 5, None, {"frames": 5}]]),
        lambda body: _first_point(body, counts={}, ahead=[[5, 5, None, {"frames": "x"}]]),
        lambda body: _first_point(body, counts={}, ahead=[[5, 5, None, {"frames": 5}], [7, 5, None, {"frames": 5}]]),
        lambda body: _first_point(body, counts={}, ahead=[[-5, 5, None, {"frames": 5}]]),
    ],
)
def test_a_state_that_no_sweep_has_written_is_refused_though_its_sum_is_right(change, folder, capsys):
    path = folder / "ber.sweep/state.json"
    path.write_text(signed(change(json.loads(path.read_text()))))
    assert command.main([str(folder / "ber.toml"), "--resume", "--workers", "1"]) == 3
    assert "damaged" in capsys.readouterr().err


def test_every_byte_of_a_state_matters_or_changes_nothing(folder):
    path = folder / "ber.sweep/state.json"
    good, rows = path.read_bytes(), tm.sweep.status(folder / "ber.sweep")["rows"]
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :])
        try:
            assert tm.sweep.status(folder / "ber.sweep")["rows"] == rows
        except tm.sweep.SweepError:
            pass
    for length in range(0, len(good) - 2, 11):
        path.write_bytes(good[:length])
        with pytest.raises(tm.sweep.SweepError, match="damaged"):
            tm.sweep.status(folder / "ber.sweep")


def test_going_on_keeps_what_was_done_by_whom(folder):
    before = tm.sweep.status(folder / "ber.sweep")
    assert before["ranges_done"] > 0
    tm.sweep.run(folder / "ber.toml", state=folder / "ber.sweep", resume=True, workers=1)
    after = tm.sweep.status(folder / "ber.sweep")
    assert after["ranges_done"] == before["ranges_done"] and after["hosts"] == before["hosts"]


def test_a_state_without_counts_is_no_hindrance(folder, capsys):
    shutil.rmtree(folder / "ber.sweep")
    (folder / "ber.toml").write_text('target = "AVX99"\n' + BER)
    assert command.main([str(folder / "ber.toml"), "--workers", "1"]) == 1
    assert "it has no AVX99, but" in capsys.readouterr().err
    (folder / "ber.toml").write_text(BER)
    assert command.main([str(folder / "ber.toml"), "--workers", "1"]) == 0


def test_files_of_others_in_a_states_folder_stay_as_they_are(folder):
    state = folder / "ber.sweep"
    (folder / "precious").write_text("precious")
    (state / "lock").write_text("a list of locks")
    (state / "state.json.new").symlink_to(folder / "precious")
    tm.sweep.run(folder / "ber.toml", state=state, resume=True, workers=1)
    assert (state / "lock").read_text() == "a list of locks" and (folder / "precious").read_text() == "precious"
    (state / ".tidemill-lock").unlink()
    (state / ".tidemill-lock").symlink_to(folder / "precious")
    with pytest.raises(tm.sweep.SweepError, match="nothing can be kept here"):
        tm.sweep.run(folder / "ber.toml", state=state, resume=True, workers=1)
    assert (folder / "precious").read_text() == "precious"


def test_no_name_does_anything_to_a_terminal():
    assert printable("a\x1b[31m\n\x07\x9b\u202e\udcff é") == r"a\x1b[31m\n\x07\x9b\u202e\udcff é"


def test_the_instruction_set_is_the_one_that_is_told(tmp_path, capsys):
    (tmp_path / "ber.toml").write_text(BER)
    rows = {}
    for target in tm.dvbs2.instruction_sets():
        words = [str(tmp_path / "ber.toml"), "--state", str(tmp_path / target), "--target", target, "--json", "--workers", "1"]
        assert command.main(words) == 0
        captured = capsys.readouterr()
        assert f"1 processes, {target}" in captured.err
        rows[target] = json.loads(captured.out)["rows"]
        alone = tm.dvbs2.ber("QPSK 8/9", frame="short", esn0=[5.9, 9], errors=100, frames=20, target=target).data
        assert [row["ldpc_iterations_total"] for row in rows[target]] == alone["ldpc_iterations_total"].tolist()
    mine = ["--state", str(tmp_path / tm.dvbs2.instruction_sets()[0]), "--resume"]
    assert command.main([str(tmp_path / "ber.toml"), *mine, "--target", "SCALAR"]) == 3
    assert "it is the state of another sweep: its target = " in capsys.readouterr().err
