"""Folders that nobody has made with care: what cannot be received is told, and the others are received."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import Executor

import pytest
from test_archive import slice_of

import tidemill as tm
import tidemill.archive
from tidemill.archive import command

SAMPLES = 400_000
NAMES = [
    "new\nline",
    "\x1b[31mred\x07",
    "-o",
    "--help",
    "..",
    "a b'c\"d`$(touch x)",
    "<script>alert(1)<&amp;>",
    "\udcff\udc80 not UTF-8",
    "é\u202e😀",
    "driver=rtlsdr",
    "rtl_tcp:",
    "%s%n{0}",
]


@pytest.fixture
def folder(tmp_path, demo):
    """With one recording in it."""
    made = tmp_path / "recordings"
    made.mkdir()
    slice_of(demo, made, "one", 0, SAMPLES)
    return made


def archived(folder, to, workers, **wishes):
    return tm.archive.run(folder, to, executor=workers, workers=2, **wishes)


def files(folder, name):
    return [folder / f"{name}.sigmf-meta", folder / f"{name}.sigmf-data"]


@pytest.mark.parametrize("where", ["recordings", "."])
def test_any_name_is_a_name(where, folder, tmp_path, demo, workers, capsys, monkeypatch):
    for k, name in enumerate(NAMES):
        slice_of(demo, folder, name, 2000 * k + 1, SAMPLES)
    monkeypatch.chdir(folder if where == "." else tmp_path)
    assert command.main([where, "-o", str(tmp_path / "ts"), "--json"]) == 0
    captured = capsys.readouterr()
    assert all(line.isprintable() for line in captured.err.splitlines())
    assert set(json.loads(captured.out)["recordings"]) == {f"{name}.sigmf-meta" for name in ["one", *NAMES]}
    for name in NAMES:
        assert (tmp_path / f"ts/{name}.sigmf-meta.ts").stat().st_size > 0
    assert not (folder / "x").exists() and not (tmp_path / "x").exists()


def test_a_name_too_long_for_its_stream_costs_no_other_recording(folder, tmp_path, demo, workers):
    long = "n" * (255 - len(".sigmf-meta"))
    slice_of(demo, folder, long, 1, SAMPLES)
    archive = archived(folder, tmp_path / "ts", workers)
    assert archive.received == ["one.sigmf-meta"] and "File name too long" in archive.failed[f"{long}.sigmf-meta"]


def test_a_folder_where_a_stream_should_be_costs_no_other_recording(folder, tmp_path, demo, workers):
    slice_of(demo, folder, "two", 1, SAMPLES)
    (tmp_path / "ts/two.sigmf-meta.ts").mkdir(parents=True)
    archive = archived(folder, tmp_path / "ts", workers)
    assert archive.received == ["one.sigmf-meta"] and "cannot be written" in archive.failed["two.sigmf-meta"]


def test_links_loops_pipes_and_what_cannot_be_read_are_told(folder, tmp_path, workers):
    (folder / "loop").symlink_to(folder)
    (folder / "self.cf32").symlink_to(folder / "self.cf32")
    (folder / "gone.cf32").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe.cf32")
    (folder / "dir.cf32").mkdir()
    shutil.copy(folder / "one.sigmf-meta", folder / "piped.sigmf-meta")
    os.mkfifo(folder / "piped.sigmf-data")
    shutil.copy(folder / "one.sigmf-meta", folder / "zero.sigmf-meta")
    (folder / "zero.sigmf-data").symlink_to("/dev/zero")
    os.mkfifo(folder / "head.sigmf-meta")
    outside = tmp_path / "outside"
    outside.mkdir()
    for path in files(folder, "one"):
        path.rename(outside / path.name)
        path.symlink_to(outside / path.name)
    archive = archived(folder, tmp_path / "ts", workers)
    assert archive.received == ["one.sigmf-meta"]
    assert archive.failed == {
        "self.cf32": "self.cf32: Too many levels of symbolic links",
        "gone.cf32": "gone.cf32: No such file or directory",
        "pipe.cf32": "pipe.cf32: it is no file",
        "piped.sigmf-meta": "piped.sigmf-data: it is no file",
        "zero.sigmf-meta": "zero.sigmf-data: it is no file",
        "head.sigmf-meta": "head.sigmf-meta: it is no file",
    }


def test_folders_that_cannot_be_looked_into_are_told(folder, tmp_path, workers, monkeypatch):
    (folder / "closed").mkdir()
    scan = os.scandir

    def refusing(path):
        if os.path.basename(os.fspath(path)) == "closed":
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    archive = archived(folder, tmp_path / "ts", workers)
    assert archive.received == ["one.sigmf-meta"] and archive.failed == {"closed": "Permission denied"}


def test_data_under_another_name_is_what_is_looked_at(folder, tmp_path, demo, workers):
    for name in ("two", "three"):
        slice_of(demo, folder, name, 1000, SAMPLES)
        meta, data = files(folder, name)
        told = json.loads(meta.read_text())
        told["global"]["core:dataset"] = f"{name}.raw"
        meta.write_text(json.dumps(told))
        data.rename(folder / f"{name}.raw")
    (folder / "two.sigmf-data").write_bytes(b"another one")
    archive = archived(folder, tmp_path / "ts", workers)
    assert archive.failed == {} and len(archive.received) == 3
    slice_of(demo, folder, "x", 5000, SAMPLES)
    (folder / "x.sigmf-data").rename(folder / "two.raw")
    (folder / "x.sigmf-meta").unlink()
    assert archived(folder, tmp_path / "ts", workers).received == ["two.sigmf-meta"]


def test_empty_and_cut_recordings_are_told(folder, tmp_path, workers):
    for name in ("empty", "cut"):
        shutil.copy(folder / "one.sigmf-meta", folder / f"{name}.sigmf-meta")
    (folder / "empty.sigmf-data").write_bytes(b"")
    (folder / "cut.sigmf-data").write_bytes((folder / "one.sigmf-data").read_bytes()[:1001])
    (folder / "half.sigmf-meta").write_text((folder / "one.sigmf-meta").read_text()[:50])
    (folder / "nothing.wav").write_bytes(b"")
    (folder / "rubbish.sigmf").write_bytes(b"\xff" * 5000)
    archive = archived(folder, tmp_path / "ts", workers)
    assert archive.received == ["one.sigmf-meta"]
    assert set(archive.failed) == {"empty.sigmf-meta", "cut.sigmf-meta", "half.sigmf-meta", "nothing.wav", "rubbish.sigmf"}


def test_recordings_and_streams_may_share_a_folder(folder, workers):
    (folder / "lock").write_text("a list of locks")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for received in (["one.sigmf-meta"], []):
        assert archived(folder, folder, workers).received == received
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_copy_whose_original_has_changed_is_received_again(folder, tmp_path, demo, workers):
    for path in files(folder, "one"):
        shutil.copy(path, folder / path.name.replace("one", "zcopy"))
    to = tmp_path / "ts"
    assert archived(folder, to, workers).entries["zcopy.sigmf-meta"]["same_as"] == "one.sigmf-meta"
    stream = (to / "one.sigmf-meta.ts").read_bytes()
    slice_of(demo, folder, "one", 100_000, SAMPLES)
    archive = archived(folder, to, workers)
    assert sorted(archive.received) == ["one.sigmf-meta", "zcopy.sigmf-meta"]
    assert (to / "zcopy.sigmf-meta.ts").read_bytes() == stream
    for path in files(folder, "one"):
        path.unlink()
    (to / "one.sigmf-meta.ts").unlink()
    assert archived(folder, to, workers).received == []


def test_a_copy_of_what_cannot_be_received_is_no_entry(folder, tmp_path, workers):
    for name in ("a", "b"):
        shutil.copy(folder / "one.sigmf-meta", folder / f"{name}.sigmf-meta")
        (folder / f"{name}.sigmf-data").write_bytes(bytes(8000))
    archive = archived(folder, tmp_path / "ts", workers)
    assert list(archive.entries) == ["one.sigmf-meta"]
    assert archive.failed["b.sigmf-meta"] == "its content is that of a.sigmf-meta, which could not be received"


@pytest.mark.parametrize(
    "change",
    [
        {"output": "/dev/zero"},
        {"output": "../../etc/passwd"},
        {"output": 3},
        {"output_sha256": None},
        {"sha256": []},
        {"same_as": ["x"]},
        {"same_as": "one.sigmf-meta", "output": None},
        {"wishes": "\x1b"},
    ],
)
def test_a_damaged_entry_is_received_again(change, folder, tmp_path, workers):
    to = tmp_path / "ts"
    expected = dict(archived(folder, to, workers).entries)
    index = json.loads((to / "index.json").read_text())
    index["recordings"]["one.sigmf-meta"] |= change
    (to / "index.json").write_text(json.dumps(index))
    archive = archived(folder, to, workers)
    assert archive.entries == expected


def test_a_link_in_the_way_of_a_stream_is_not_followed(folder, tmp_path, workers):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "ts").mkdir()
    for name in ("one.sigmf-meta.ts", "one.sigmf-meta.ts.new", "index.json.new"):
        (tmp_path / "ts" / name).symlink_to(tmp_path / "precious")
    assert archived(folder, tmp_path / "ts", workers).received == ["one.sigmf-meta"]
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "ts/one.sigmf-meta.ts").is_symlink()


def test_an_output_that_takes_nothing_is_told(folder, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for to in (tmp_path / "file", tmp_path / "file/ts"):
        assert command.main([str(folder), "-o", str(to)]) == 3
        assert "nothing can be kept here" in capsys.readouterr().err
    words = [sys.executable, "-m", "tidemill.archive.command", str(folder), "-o", str(tmp_path / "ts"), "--json"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1 and "standard output cannot be written" in ended.stderr and "Traceback" not in ended.stderr


def test_raw_samples_are_received_where_their_rate_is_told(folder, tmp_path, demo, capsys):
    data, meta = folder / "one.sigmf-data", json.loads((folder / "one.sigmf-meta").read_text())["global"]
    data.rename(folder / f"raw.{meta['core:datatype'].removesuffix('_le')}")
    (folder / "one.sigmf-meta").unlink()
    words = [str(folder), "-o", str(tmp_path / "ts")]
    assert command.main(words) == 1 and "--sample-rate" in capsys.readouterr().err
    assert command.main([*words, "--sample-rate", str(meta["core:sample_rate"])]) == 0


class _Gone(Executor):
    def submit(self, fn, /, *args, **kwargs):
        raise RuntimeError("it has ended")


def test_an_engine_that_goes_away_is_told(folder, tmp_path):
    with pytest.raises(tm.JobFailed, match="the engine has gone away: RuntimeError: it has ended"):
        tm.archive.run(folder, tmp_path / "ts", executor=_Gone(), workers=2)


def test_a_full_disk_is_told_and_holds_no_half_a_file(folder, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    for to, name in (("ts", "fsync"), ("ts2", "pwrite")):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            assert command.main([str(folder), "-o", str(tmp_path / to)]) in (1, 3)
        assert f"{tmp_path / to}" in (told := capsys.readouterr().err) and "No space left on device" in told
        assert [path.name for path in (tmp_path / to).iterdir()] == [".tidemill-lock"]
