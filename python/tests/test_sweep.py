"""Sweeps: the counts of one machine, whoever counts, in whatever order, and whatever dies meanwhile."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemill as tm
import tidemill.sweep
from tidemill.sweep import command
from tidemill.sweep.kinds import Range
from tidemill.sweep.processes import Processes
from tidemill.sweep.registry import KINDS
from tidemill.sweep.tally import Tally
from waiting import wait_for

BER = {
    "count": "ber",
    "seed": 3,
    "ber": {"modcod": "QPSK 8/9", "frame": "short", "esn0": [5.9, 6.1, 6.6]},
    "until": {"errors": 12, "frames": 150},
    "ranges": {"frames": 10},
}
BER_TOML = """
count = "ber"
seed = 3
[ber]
modcod = "QPSK 8/9"
frame = "short"
esn0 = [5.9, 6.1, 6.6]
[until]
errors = 12
frames = 150
[ranges]
frames = 10
"""


@pytest.fixture(scope="module")
def expected():
    """What one machine counts: the columns of tidemill dvbs2 ber."""
    return tm.dvbs2.ber("QPSK 8/9", frame="short", esn0=[5.9, 6.1, 6.6], errors=12, frames=150, seed=3)


def check_same(result, expected):
    columns = result.curve().data
    assert list(columns) == list(expected.data)
    for name, column in expected.data.items():
        assert np.array_equal(columns[name], column, equal_nan=column.dtype.kind == "f"), name
    assert result.notes == expected.notes and result.is_done


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_processes_counts_what_one_machine_does(workers, expected):
    check_same(tm.sweep.run(BER, engine="processes", workers=workers), expected)


def test_any_executor_may_be_handed_in(expected):
    with ThreadPoolExecutor(3) as executor:
        check_same(tm.sweep.run(BER, executor=executor), expected)


@pytest.mark.parametrize("ranges", [{"frames": 7}, {"frames": 150}, {"seconds": 0.01}])
def test_it_does_not_matter_where_a_count_is_cut(ranges, expected):
    check_same(tm.sweep.run({**BER, "ranges": ranges}, workers=2), expected)


def test_bursts_of_the_whole_receiver_are_swept_whole():
    ber = {"modcod": "QPSK 8/9", "frame": "short", "esn0": 6.05, "sync": "full", "pilots": True, "burst": 20}
    wishes = {**BER, "ber": ber, "until": {"errors": 15, "frames": 200}, "ranges": {"frames": 40}}
    expected = tm.dvbs2.ber("QPSK 8/9", **{n: v for n, v in ber.items() if n != "modcod"}, errors=15, frames=200, seed=3)
    check_same(tm.sweep.run(wishes, workers=2), expected)
    with pytest.raises(tm.sweep.SweepError, match=r"\[until\]: frames = 50: it cuts a burst: give a multiple of 20"):
        tm.sweep.run({**wishes, "until": {"frames": 50}})


@given(seed=st.integers(0, 2**32), step=st.integers(1, 3), events=st.one_of(st.none(), st.integers(1, 12)))
@settings(max_examples=200, deadline=None)
def test_ranges_that_come_back_in_any_order_or_never_add_up_as_if_in_order(seed, step, events):
    chance = random.Random(seed)
    most = step * chance.randint(1, 40)
    is_event = [chance.random() < 0.3 for _ in range(most)]

    def counted(range_):
        counts = {"frames": 0, "frames_wrong": 0}
        for number in range(range_.first, range_.first + range_.length):
            if range_.limit is not None and counts["frames_wrong"] >= range_.limit and counts["frames"] % step == 0:
                break
            counts["frames"] += 1
            counts["frames_wrong"] += is_event[number]
        return counts

    tally = Tally(KINDS["ber"], step, most, events)
    flying: list[Range] = []
    while not tally.is_done:
        while len(flying) < 5 and (dealt := tally.deal(chance.randint(1, 9))):
            flying.append(dealt)
        range_ = flying.pop(chance.randrange(len(flying)))
        fate = chance.random()
        if fate < 0.2:
            tally.give_up(range_)
            if fate < 0.1:  # it was thought lost, and comes back
                flying.append(range_)
        elif fate < 0.25:  # the sweep itself dies, and goes on from its state
            saved = json.loads(json.dumps(tally.to_json()))
            tally = Tally(KINDS["ber"], step, most, events)
            tally.go_on(saved)
            flying = []
        else:
            tally.take(range_, counted(range_), {})
    assert tally.counts == counted(Range(0, most, events))


def test_workers_that_are_killed_cost_their_ranges_only(expected):
    chance = random.Random(7)
    with Processes(2) as executor:

        def kill_one(dealer):
            if dealer.lost < 3 and (running := multiprocessing.active_children()):
                chance.choice(running).kill()

        wishes = {**BER, "until": {"errors": 10**6, "frames": 1500}, "ranges": {"frames": 50}}
        killer = _Often(kill_one)
        result = tm.sweep.run(wishes, executor=killer.around(executor), workers=2, tell=killer.note)
        assert result.lost > 0
        undisturbed = tm.sweep.run(wishes, workers=2)
        assert result.rows == undisturbed.rows and undisturbed.lost == 0


def test_a_script_needs_no_guard_for_its_workers(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import tidemill.sweep\nprint(tidemill.sweep.run({BER!r}, workers=2).is_done)\n")
    ended = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    assert ended.stdout == "True\n"


class _Often(Executor):
    """Calls with the dealer before every tenth range."""

    def __init__(self, call):
        self._call, self._dealer, self._count = call, None, 0

    def around(self, executor):
        self._executor = executor
        return self

    def note(self, dealer):
        self._dealer = dealer

    def submit(self, *args, **kwargs):
        self._count += 1
        if self._dealer and self._count % 10 == 0:
            self._call(self._dealer)
        return self._executor.submit(*args, **kwargs)


class _Failing(Executor):
    def __init__(self, error):
        self._error = error

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        if fn.__name__ == "instruction_sets_here":
            future.set_result(fn(*args, **kwargs))
        else:
            future.set_exception(self._error)
        return future


def test_a_range_that_is_lost_again_and_again_ends_the_sweep_with_its_reason():
    with pytest.raises(tm.JobFailed, match="frames 0 to 10 of point . were lost 4 times: MemoryError.*too little memory"):
        tm.sweep.run(BER, executor=_Failing(MemoryError()), workers=1)


def test_a_worker_of_another_build_or_without_the_instruction_set_is_refused(monkeypatch):
    here = tidemill.sweep.deal.build_here()
    monkeypatch.setattr(tidemill.sweep.deal, "build_here", lambda: "0.0.9+elsewhere")
    with ThreadPoolExecutor(1) as executor, pytest.raises(tm.JobFailed) as failed:
        tm.sweep.run(BER, executor=executor)
    assert f"it has build {here}, this sweep 0.0.9+elsewhere: install the same on all" in str(failed.value)
    monkeypatch.undo()
    with pytest.raises(tm.JobFailed, match="it has no AVX9, but .*: give target = one that all workers have"):
        tm.sweep.run({**BER, "target": "AVX9"}, workers=1)


def test_workers_end_with_the_sweep_that_was_killed(tmp_path):
    (tmp_path / "ber.toml").write_text(BER_TOML.replace("150", "100000000").replace("errors = 12", "errors = 100000000"))
    sweep = _started(tmp_path, "ber.toml")
    wait_for(lambda: (tmp_path / "ber.sweep/state.json").exists() and _descendants(sweep.pid))
    workers = [int(n) for n in _descendants(sweep.pid)]
    sweep.kill()
    sweep.wait()
    wait_for(lambda: not any(_lives(each) for each in workers))


def _started(folder, *words):
    program = [sys.executable, "-m", "tidemill.sweep.command", *words]
    return subprocess.Popen(program, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _descendants(process):
    children = []
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
            children += file.read().split()
    return children + [each for child in children for each in _descendants(child)]


def _lives(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_sweep_that_was_killed_goes_on_and_counts_what_one_machine_does(tmp_path, capsys):
    toml = BER_TOML.replace("150", "2000").replace("errors = 12", "errors = 1000000")
    (tmp_path / "ber.toml").write_text(toml)
    for times in range(4):
        sweep = _started(tmp_path, "ber.toml", "--resume")
        saved = _frames_saved(tmp_path)
        while sweep.poll() is None and _frames_saved(tmp_path) == saved:
            time.sleep(0.01)
        if sweep.poll() is not None:
            break
        sweep.kill()
        sweep.communicate()
    assert times > 0
    assert command.main([str(tmp_path / "ber.toml"), "--resume", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    whole = tm.dvbs2.ber("QPSK 8/9", frame="short", esn0=[5.9, 6.1, 6.6], errors=10**6, frames=2000, seed=3)
    for row, wrong, bits in zip(found["rows"], whole.data["frames_wrong"], whole.data["bits_wrong"], strict=True):
        assert (row["frames"], row["frames_wrong"], row["bits_wrong"]) == (2000, wrong, bits)


def _frames_saved(folder):
    try:
        rows = tm.sweep.status(folder / "ber.sweep")["rows"]
    except tm.sweep.SweepError:
        return 0
    return sum(row["frames"] for row in rows)


def test_an_interrupt_ends_a_sweep_in_order_and_it_goes_on(tmp_path):
    toml = BER_TOML.replace("150", "100000000").replace("errors = 12", "errors = 100000000")
    (tmp_path / "ber.toml").write_text(toml)
    sweep = _started(tmp_path, "ber.toml", "--json")
    wait_for(lambda: _frames_saved(tmp_path) > 0)
    sweep.send_signal(signal.SIGINT)
    out, err = sweep.communicate(timeout=60)
    assert sweep.returncode == 1 and "stopped early: --resume goes on from" in err
    told = json.loads(out)
    assert sum(row["frames"] for row in told["rows"]) > 0 and not told["is_done"]


def test_a_state_has_one_writer(tmp_path):
    began, go_on = threading.Event(), threading.Event()

    def tell(_):
        began.set()
        go_on.wait(60)

    first = threading.Thread(target=tm.sweep.run, args=(BER,), kwargs={"state": tmp_path, "workers": 1, "tell": tell})
    first.start()
    began.wait(60)
    with pytest.raises(tm.sweep.SweepError, match=f"process {os.getpid()} on .* works here: wait, or name another folder"):
        tm.sweep.run(BER, state=tmp_path)
    go_on.set()
    first.join()


@pytest.fixture(scope="module")
def done_state(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    tm.sweep.run(BER, state=folder, workers=2)
    return (folder / "state.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('"version": "0', '"version": "9', "damaged, or no sweep's state: move it away"),
        ('"frames": ', '"frames": 1', "damaged"),
        ("{", "[", "damaged"),
        ("\n}", "", "damaged"),
    ],
)
def test_a_damaged_state_is_refused(before, after, sentence, done_state, tmp_path):
    (tmp_path / "state.json").write_text(done_state.replace(before, after, 1), encoding="utf-8")
    for use in (lambda: tm.sweep.run(BER, state=tmp_path, resume=True), lambda: tm.sweep.status(tmp_path)):
        with pytest.raises(tm.sweep.SweepError, match=sentence):
            use()


def test_a_state_of_another_version_or_sweep_is_refused(done_state, tmp_path, monkeypatch):
    (tmp_path / "state.json").write_text(done_state, encoding="utf-8")
    with pytest.raises(tm.sweep.SweepError, match="counts are here already: go on with --resume"):
        tm.sweep.run(BER, state=tmp_path)
    with pytest.raises(tm.sweep.SweepError, match="of another sweep: its seed = 3, now 4: name another --state"):
        tm.sweep.run({**BER, "seed": 4}, state=tmp_path, resume=True)
    monkeypatch.setattr("tidemill.sweep.state._core.version", "0.0.9")
    with pytest.raises(tm.sweep.SweepError, match=r"of version .*, this is 0.0.9, which may count otherwise"):
        tm.sweep.run(BER, state=tmp_path, resume=True)


def test_what_is_counted_already_is_not_counted_again(done_state, tmp_path, expected):
    (tmp_path / "state.json").write_text(done_state, encoding="utf-8")
    other_cuts = {**BER, "ranges": {"seconds": 1}}
    result = tm.sweep.run(other_cuts, state=tmp_path, resume=True, executor=_Failing(MemoryError()), workers=1)
    check_same(result, expected)


def test_the_status_shows_the_curve_and_who_counted(done_state, tmp_path, capsys):
    (tmp_path / "state.json").write_text(done_state, encoding="utf-8")
    assert command.main(["--status", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "frame_error_rate_low" in text and "3 of 3 points done; 2 processes: " in text and "a second and worker" in text
    assert command.main(["--status", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["frames_wrong"] == 12
    assert " ranges done, 0 out, 0 lost, 0 dealt again" in text
    assert command.main(["--status", str(tmp_path / "nothing")]) == 3
    assert "there is no sweep's state" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sead": 1}, "there is no sead: do you mean seed?"),
        ({"ber": {**BER["ber"], "modcods": "x"}}, r"\[ber\]: there is no modcods: do you mean modcod?"),
        ({"until": {"error": 1}}, r"\[until\]: there is no error: do you mean errors?"),
        ({"until": {"chains": 1}}, r"\[until\]: there is no chains: there are errors, frames"),
        ({"count": "beer"}, "count = 'beer': give ber or policies or program or simulate or strategies"),
        ({"ber": 3}, "ber = 3: give a table"),
        ({"ber": {"modcod": "QPSK 8/9"}}, "give one of esn0, ebn0, margin, in dB"),
        ({"ber": {"modcod": "QPSK 8/9", "esn0": 1, "ebn0": 1}}, "give one of esn0, ebn0, margin, in dB"),
        ({"ber": {"modcod": "QPSK 8/9", "esn0": 900}}, "give -200 to 200 dB"),
        ({"ber": {"modcod": "QPSK 8/9", "esn0": "many"}}, "many"),
        ({"ber": {"esn0": 1}}, "modcod is missing: give modulations and code rates"),
        ({"ber": {"modcod": ["10", "QPSK 8/9"], "esn0": 1}}, "each once"),
        ({"ber": {"modcod": "QPSK 9/10", "frame": "short", "esn0": 1}}, "rate 9/10 has no short frames"),
        ({"seed": -1}, "seed = -1: give a whole number from 0"),
        ({"seed": True}, "seed = True: give a whole number"),
        ({"until": {"frames": 0}}, "frames = 0: give a whole number from 1"),
        ({"ranges": {"seconds": float("nan")}}, "seconds = nan: give a number from 0.001 to 3600"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(change, sentence):
    with pytest.raises(tm.Error, match=sentence):
        tm.sweep.run({**BER, **change})


@pytest.mark.parametrize(
    ("text", "status", "sentence"),
    [
        ("count = ", 3, "bad.toml: no TOML"),
        (b"\xff", 3, "bad.toml: no TOML"),
        (BER_TOML + "[extra]\n", 3, "there is no extra"),
        (BER_TOML.replace("QPSK 8/9", "QPSK 7/9"), 3, "bad.toml: [ber]: modcod = 'QPSK 7/9': give \"all\", or some of QPSK 1/4"),
        (None, 3, "No such file or directory: name a sweep file"),
    ],
)
def test_files_that_cannot_be_read_are_told(text, status, sentence, tmp_path, capsys):
    path = tmp_path / "bad.toml"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert command.main([str(path)]) == status
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "bad.sweep").exists()


def test_a_state_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "ber.toml").write_text(BER_TOML)
    (tmp_path / "file").write_text("")
    assert command.main([str(tmp_path / "ber.toml"), "--state", str(tmp_path / "file")]) == 3
    assert "nothing can be kept here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("engine", "variables", "sentence"),
    [
        ("ray", {"RAY_ADDRESS": "127.0.0.1:1"}, "(the engine needs the Python package ray|Ray cannot be reached)"),
        ("dask", {}, "(the engine needs the Python package distributed|Dask: say where its scheduler is)"),
        ("dask", {"DASK_SCHEDULER_ADDRESS": "tcp://127.0.0.1:1"}, "(needs the Python package|cannot be reached)"),
    ],
)
def test_an_engine_that_cannot_be_had_is_told(engine, variables, sentence, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(tm.JobFailed, match=sentence):
        tm.sweep.run(BER, engine=engine)


CHAINS = {"tasks": 12, "cores": [{"big": 4, "little": 2}, {"big": 2, "little": 6}], "stateless": [0.2, 0.8]}


def test_strategies_over_random_chains_are_the_same_for_any_number_of_workers():
    wishes = {"count": "strategies", "strategies": CHAINS, "until": {"chains": 60}, "ranges": {"chains": 7}}
    rows = tm.sweep.run(wishes, workers=1).rows
    assert tm.sweep.run(wishes, workers=3).rows == rows
    assert [row["chains"] for row in rows] == 4 * [60]
    assert all(row["herad best share"] == 1 and row["herad slowdown"] == 1 for row in rows)
    assert all(1 <= row["fertac slowdown"] <= row["fertac slowdown largest"] for row in rows)


def test_simulations_of_random_chains_miss_the_forecast_by_what_jitter_costs():
    chains = {**CHAINS, "jitter": [0, 0.3], "frames": 300}
    wishes = {"count": "simulate", "simulate": chains, "until": {"chains": 10}, "ranges": {"chains": 3}}
    rows = tm.sweep.run(wishes, workers=1).rows
    assert tm.sweep.run(wishes, workers=2).rows == rows
    for calm, rough in zip(rows[::2], rows[1::2], strict=True):
        assert calm["period over forecast"] == pytest.approx(1, abs=0.02)
        assert rough["period over forecast"] > calm["period over forecast"]


def test_policies_over_programs_are_the_same_for_any_number_of_workers():
    policies = {"program": ["fm", "dct"], "policy": ["fifo", "gpriority"], "noise": [0, 0.3], "iterations": 6}
    wishes = {"count": "policies", "policies": policies, "until": {"runs": 5}, "ranges": {"runs": 2}}
    rows = tm.sweep.run(wishes, workers=1).rows
    assert tm.sweep.run(wishes, workers=2).rows == rows
    assert len(rows) == 8 and all(row["runs"] == 5 for row in rows)
    alone = tm.simulate_tasks("fm", policy="fifo", iterations=6, noise=0).report
    assert rows[0]["makespan_us"] == pytest.approx(alone["makespan_us"], abs=1e-3)
    assert rows[0]["makespan_us largest"] == rows[0]["makespan_us"] and rows[2]["makespan_us largest"] > rows[2]["makespan_us"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"program": "fmm"}, "program = 'fmm': give some of "),
        ({"policy": ["fifo,best"]}, "give some of .*gpriority.*, or \"all\""),
        ({"policy": []}, "give some of "),
        ({"noise": [-1]}, "give relative standard deviations"),
        ({"window": 0}, "window = 0: give a whole number from 1"),
    ],
)
def test_policies_that_there_are_not_are_told(more, sentence):
    with pytest.raises(tm.sweep.SweepError, match=sentence):
        tm.sweep.run({"count": "policies", "policies": {"program": "fm", "policy": "fifo", **more}}, workers=1)


SCRIPT = "import sys; n = int(sys.argv[1]); print('{\"odd\": %d, \"sum\": %d}' % (n % 2, n)); sys.exit(n % 5 == 4)"


def _program(**more):
    program = {"command": [sys.executable, "-c", "{script}", "{number}"], "adds": ["odd", "sum"], **more}
    program.setdefault("values", {"script": [SCRIPT]})
    return {"count": "program", "program": program, "until": {"runs": 20, "failed": 3}, "ranges": {"runs": 3}}


def test_programs_are_run_with_numbers_and_what_they_print_is_added_up():
    result = tm.sweep.run(_program(), workers=2)
    # 0 to 14, of which 4, 9 and 14 fail.
    assert result.rows[0]["runs"] == 15 and result.rows[0]["failed"] == 3
    assert result.rows[0]["sum"] == sum(range(15)) - 27 and result.rows[0]["odd"] == 6


@pytest.mark.parametrize(
    ("more", "error", "sentence"),
    [
        ({"command": ["/nowhere/program"], "values": {}}, tm.JobFailed, "/nowhere/program cannot be run"),
        ({"adds": ["even"]}, tm.JobFailed, "does not print one JSON object with numbers for even"),
        ({"command": ["x", "{other}"]}, tm.sweep.SweepError, r"braces are \['other'\], those of values \['script'\]"),
        ({"command": ["x", "{number.real}"]}, tm.sweep.SweepError, "number.real"),
        ({"command": ["{"]}, tm.sweep.SweepError, "a brace is not closed"),
        ({"values": {"script": 3}}, tm.sweep.SweepError, "give lists of texts and numbers"),
    ],
)
def test_programs_that_cannot_be_run_are_told(more, error, sentence):
    with pytest.raises(error, match=sentence):
        tm.sweep.run(_program(**more), workers=1)


def test_a_program_that_does_not_end_is_a_failure():
    wishes = _program(command=["sleep", "1000"], values={}, adds=[], timeout_s=0.05)
    assert tm.sweep.run({**wishes, "until": {"runs": 2}}, workers=2).rows[0]["failed"] == 2
