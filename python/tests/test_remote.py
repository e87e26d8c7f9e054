"""Decoding elsewhere: every packet once and in order, whatever becomes of the helpers."""

import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import tidemill as tm
import tidemill.remote
from tidemill.remote import command, work
from tidemill.sweep.processes import Processes

SMALL = 200_000
"""Bytes of a batch: three frames of the demo, so that there are many."""


@pytest.fixture(scope="module")
def expected(demo):
    return tm.dvbs2.receive(demo, executor="sequence").packets.tobytes()


def received(demo, **wishes):
    to = io.BytesIO()
    report = tm.remote.receive(demo, to, **{"batch_bytes": SMALL, **wishes})
    return to.getvalue(), report


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("batch_bytes", [1, SMALL, 1 << 22])
def test_any_helpers_and_batches_give_the_very_stream_of_the_receiver(workers, batch_bytes, demo, expected):
    packets, report = received(demo, workers=workers, batch_bytes=batch_bytes)
    assert packets == expected
    assert (report.frames, report.frames_bad, report.gaps, report.locks) == (62, 0, 0, 1)
    assert report.ts_packets == 1992 and report.frames_here == 0 and report.failure == ""


def test_helpers_that_are_killed_again_and_again_cost_no_packet(demo, expected):
    chance = random.Random(3)
    with Processes(2) as helpers:

        class Killing(Executor):
            count = 0

            def submit(self, fn, /, *args, **kwargs):
                future = helpers.submit(fn, *args, **kwargs)
                self.count += 1
                if self.count % 3 == 0 and self.count <= 30 and (running := helpers.process_ids()):
                    os.kill(chance.choice(running), 9)
                return future

        packets, report = received(demo, executor=Killing(), workers=2)
    assert packets == expected
    assert report.batches_again > 0


class _Answers(Executor):
    """Decodes here, and sends `change` of it."""

    def __init__(self, change, first=0):
        self._change, self._first, self._count = change, first, 0

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        answer = fn(*args, **kwargs)
        if self._count >= self._first:
            self._change(future, answer)
        else:
            future.set_result(answer)
        self._count += 1
        return future


def changed(**fields):
    return lambda future, answer: future.set_result(work.Decoded(**{**vars(answer), **fields}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda future, _: future.set_result("something"), "it sent a str"),
        (changed(build="0.0.9+elsewhere"), r"it has build 0.0.9\+elsewhere, this is .*: install the same on all"),
        (changed(good=np.ones(1, np.bool_)), "it decoded 1 frames of"),
        (changed(bbframes=np.zeros(7, np.uint8)), "it sent 7 bytes of frames instead of"),
        (changed(good=[True]), "something else than arrays"),
        (lambda future, _: future.set_exception(OSError("gone")), "a batch was lost 4 times: OSError: gone"),
        (lambda future, _: None, "a batch was lost 4 times: a helper took more than 0.05 s"),
    ],
)
def test_what_helpers_do_wrong_is_told_and_the_rest_is_decoded_here(change, sentence, demo, expected):
    told = []
    packets, report = received(demo, executor=_Answers(change, first=5), workers=2, patience_s=0.05, tell=told.append)
    assert packets == expected and 0 < report.frames_here < 62
    assert len(told) == 1
    assert re.search(sentence, report.failure) and report.failure in told[0]


def test_an_engine_that_goes_away_leaves_what_was_decoded(demo, expected):
    class Gone(ThreadPoolExecutor):
        count = 0

        def submit(self, fn, /, *args, **kwargs):
            self.count += 1
            if self.count > 6:
                raise ConnectionError("the cluster is gone")
            return super().submit(fn, *args, **kwargs)

    with Gone(2) as executor:
        packets, report = received(demo, executor=executor)
    assert packets == expected and report.failure == "ConnectionError: the cluster is gone" and report.frames_here > 0


def test_errors_of_the_recording_and_of_the_output_are_told(tmp_path, demo):
    with pytest.raises(tm.IoError, match="nothing.sigmf-meta"):
        received(tmp_path / "nothing.sigmf-meta", workers=1)
    with pytest.raises(tm.JobFailed, match="cannot be written"):
        tm.remote.receive(demo, tmp_path / "no/folder.ts", workers=1)
    with pytest.raises(tm.JobFailed, match="the packets cannot be written: No space left"):
        with open("/dev/full", "wb", buffering=0) as full:
            tm.remote.receive(demo, full, workers=1)
    (tmp_path / "noise.cf32").write_bytes(random.Random(1).randbytes(8 * 200_000))
    with pytest.raises(tm.JobFailed, match="no packets: 0 frames found"):
        received(tmp_path / "noise.cf32", workers=1, sample_rate_hz=1e6)


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        ((np.array([4 << 2], np.uint8), np.zeros(9, np.int8)), "does not have the soft bits of its PLS codes"),
        ((np.array([0], np.uint8), np.zeros(64800, np.int8)), "does not have the soft bits"),
    ],
)
def test_a_batch_that_cannot_be_is_refused_by_the_helper(batch, sentence):
    with pytest.raises(tm.WrongUsage, match=sentence):
        work.decoded(work.Batch(batch[0], np.zeros(1, np.bool_), batch[1]))


def test_the_program_receives_and_refuses(demo, expected, tmp_path, capsys):
    words = [str(demo), "-o", str(tmp_path / "video.ts"), "--stage"]
    program = [sys.executable, "-m", "tidemill.remote.command", *words, "decode=processes:2", "--json"]
    ended = subprocess.run(program, stdout=subprocess.PIPE, check=True)
    assert json.loads(ended.stdout)["engine"] == "2 processes" and json.loads(ended.stdout)["frames"] == 62
    assert (tmp_path / "video.ts").read_bytes() == expected
    assert command.main([*words, "decode=processes:2", "--always"]) == 0
    assert capsys.readouterr().out == "1992 packets, 62 frames, 0 bad; decoded by 2 processes\n"
    for stage in ("decode", "decode=mpi", "demap=processes", "decode=processes:0", "decode=processes:x", "=ray"):
        with pytest.raises(SystemExit) as refused:
            command.main([*words, stage])
        assert refused.value.code == 2 and "give decode=ENGINE" in capsys.readouterr().err
    for wrong in (["--batch-bytes", "0"], ["--latency", "nan"], ["--patience", "inf"], ["--symbol-rate", "-5"], ["--rolloff", "nan"]):
        with pytest.raises(SystemExit) as refused:
            command.main([*words, "decode=processes", "--always", *wrong])
        assert refused.value.code == 2 and f"{wrong[1]!r}: give a" in capsys.readouterr().err
    with pytest.raises(tm.WrongUsage, match="a world of MPI dies with a rank"):
        received(demo, engine="mpi")


def test_an_output_that_cannot_be_is_told_and_nothing_is_lost(demo, expected, tmp_path, capsys):
    for path in (demo, demo.with_suffix(".sigmf-data")):
        shutil.copy(path, tmp_path)
    mine, stage = tmp_path / demo.name, ["--stage", "decode=processes:1", "--always"]
    data = mine.with_suffix(".sigmf-data")
    before = data.read_bytes()
    (tmp_path / "link").symlink_to(data)
    for to in (mine, data, tmp_path / "link"):
        assert command.main([str(mine), "-o", str(to), *stage]) == 2
        assert "is where the recording comes from: choose another output" in capsys.readouterr().err
    assert data.read_bytes() == before
    (tmp_path / "old.ts").write_text("precious")
    for wrong in ([str(tmp_path / "nosuch.cf32")], ["-"], ["driver=rtlsdr"], [str(mine), "--sample-rate", "0"]):
        assert command.main([*wrong, "-o", str(tmp_path / "old.ts"), *stage]) in (2, 3)
    assert (tmp_path / "old.ts").read_text() == "precious"
    assert command.main([str(mine), "-o", "/dev/full", *stage]) == 1
    assert "the packets cannot be written: No space left on device" in capsys.readouterr().err
    assert command.main([str(mine), "-o", "-", *stage]) == 2
    (tmp_path / "old.ts").write_bytes(bytes(2 * len(expected)))
    assert command.main([str(mine), "-o", str(tmp_path / "old.ts"), *stage]) == 0
    assert (tmp_path / "old.ts").read_bytes() == expected


@pytest.mark.parametrize("forkserver", ["starting", "running"])
def test_ctrl_c_ends_a_reception_with_whole_packets(forkserver, demo, tmp_path):
    """Of a terminal, which reaches the helpers, too."""
    words = [str(demo), "-o", str(tmp_path / "video.ts"), "--stage", "decode=processes:2", "--always", "--batch-bytes", "1"]
    when = "submit" if forkserver == "starting" else "_land"
    place = "tidemill.sweep.processes.Processes" if forkserver == "starting" else "tidemill.remote._Stream"
    code = f"""
import os, signal, sys, threading, {place.rpartition(".")[0]} as module
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs this behind has it ignored
owner, count = module.{place.rpartition(".")[2]}, 0
def once(*words, real=owner.{when}, **more):
    global count
    count += 1
    found = real(*words, **more)
    if count == {1 if forkserver == "starting" else 5}:
        os.killpg(0, signal.SIGINT)
    return found
owner.{when} = once
from tidemill.remote import command
sys.exit(command.main({words!r}))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, start_new_session=True, timeout=600)
    assert (ended.returncode, ended.stderr, ended.stdout) == (130, "tidemill: interrupted\n", "")
    assert (tmp_path / "video.ts").stat().st_size % 188 == 0


def test_a_disk_that_becomes_full_ends_a_stream_with_a_whole_packet(demo, expected, tmp_path, capsys):
    small = f"ulimit -f 100; exec {sys.executable} -m tidemill.remote.command"  # in blocks of 1024 bytes
    words = f"{demo} --stage decode=processes:1 --always --batch-bytes 1 -o {tmp_path}/video.ts"
    ended = subprocess.run(["bash", "-c", f"trap '' XFSZ; {small} {words}"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and ended.stderr == "tidemill: the packets cannot be written: File too large\n"
    kept = (tmp_path / "video.ts").read_bytes()
    assert 0 < len(kept) <= 102400 and len(kept) % 188 == 0 and expected.startswith(kept)
