"""Archives: each recording once, in however many segments, the very stream of one run."""

import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemill as tm
import tidemill.archive
from tidemill.archive import command, segments, work
from tidemill.sweep.processes import Processes
from tidemill.sweep.work import build_here

SYMBOLS = 33282  # of a normal frame of QPSK with pilots
RATE_HZ = 500e3


@pytest.fixture
def folder(tmp_path, demo):
    made = tmp_path / "recordings"
    made.mkdir()
    for path in (demo, demo.with_suffix(".sigmf-data")):
        shutil.copy(path, made)
    return made


def slice_of(demo, folder, name, first, samples, change=None):
    """A recording with part of the demo's samples."""
    meta = json.loads(demo.read_text(encoding="utf-8"))
    meta["global"].pop("core:sha512", None)
    size = os.path.getsize(demo.with_suffix(".sigmf-data")) // int(8.278342 * RATE_HZ)
    content = np.fromfile(demo.with_suffix(".sigmf-data"), np.uint8, samples * size, offset=first * size)
    if change is not None:
        change(content)
    (folder / f"{name}.sigmf-meta").write_text(json.dumps(meta))
    content.tofile(folder / f"{name}.sigmf-data")


@pytest.mark.parametrize(("count", "segment_s"), [(1, 60), (2, 4.2), (3, 2.8), (7, 1.2)])
def test_segments_give_the_very_stream_of_one_run(count, segment_s, folder, tmp_path, workers, demo):
    archive = tm.archive.run(folder, tmp_path / "ts", executor=workers, workers=2, segment_s=segment_s)
    entry = archive.entries["demo.sigmf-meta"]
    assert (entry["segments"], entry["frames"], entry["frames_bad"], entry["gaps"]) == (count, 62, 0, 0)
    assert entry["frames_decided_otherwise"] == [] and "in_one_piece" not in entry
    assert entry["modcods"] == {"QPSK 3/4 normal, pilots": 62} and entry["programmes"] == [1]
    expected = tm.dvbs2.receive(demo, executor="sequence").packets
    assert (tmp_path / "ts/demo.sigmf-meta.ts").read_bytes() == expected.tobytes()
    assert json.loads((tmp_path / "ts/index.json").read_text())["recordings"] == archive.entries


def test_what_a_search_finds_all_segments_are_told(folder, tmp_path, workers):
    archive = tm.archive.run(folder, tmp_path / "ts", executor=workers, workers=2, segment_s=3, rolloff="auto")
    entry = archive.entries["demo.sigmf-meta"]
    assert entry["segments"] == 3 and (entry["frames"], entry["frames_bad"]) == (62, 0)


def test_a_signal_that_is_not_there_all_the_time_is_received_in_one_piece(tmp_path, workers, demo):
    def silence(content):
        content[len(content) // 2 : len(content) * 5 // 8] = 0

    slice_of(demo, tmp_path, "broken", 0, 4_000_000, silence)
    archive = tm.archive.run(tmp_path, tmp_path / "ts", executor=workers, workers=2, segment_s=3)
    entry = archive.entries["broken.sigmf-meta"]
    assert entry["segments"] == 1 and entry["in_one_piece"] == "the signal is not there all the time"
    expected = tm.dvbs2.receive(tmp_path / "broken.sigmf-meta", executor="sequence").packets
    assert (tmp_path / "ts/broken.sigmf-meta.ts").read_bytes() == expected.tobytes()


def test_a_lock_that_comes_too_late_is_noticed(monkeypatch, folder, tmp_path, demo):
    monkeypatch.setattr(segments, "_BEHIND_FRAMES", 0)
    late = segments.cut
    monkeypatch.setattr("tidemill.archive.cut", lambda setting, seconds: late(setting, seconds, before_frames=-1))
    with ThreadPoolExecutor(2) as executor:
        archive = tm.archive.run(folder, tmp_path / "ts", executor=executor, segment_s=3)
    assert archive.entries["demo.sigmf-meta"]["in_one_piece"] == "a lock took longer than segments overlap"
    expected = tm.dvbs2.receive(demo, executor="sequence").packets
    assert (tmp_path / "ts/demo.sigmf-meta.ts").read_bytes() == expected.tobytes()


@given(seed=st.integers(0, 2**32), cuts=st.integers(1, 8))
@settings(max_examples=200, deadline=None)
def test_each_frame_is_taken_from_exactly_one_segment(seed, cuts):
    chance = random.Random(seed)
    lengths = [2.0 * chance.choice([3330, 8370, 33282]) for _ in range(chance.randint(1, 200))]
    positions = np.cumsum([chance.uniform(0, 9e4), *lengths])[:-1]
    setting = segments.Setting(int(positions[-1] + lengths[-1]) + 1, RATE_HZ, RATE_HZ / 2, 0.2, 0, None)
    heard = []
    for segment in segments.cut(setting, setting.samples / RATE_HZ / cuts):
        error = chance.uniform(-2, 2)  # of positions, as they were measured
        lock = 0 if segment.first == 0 else segment.first + chance.uniform(0, 8) * 2 * SYMBOLS
        rows = [
            k
            for k in range(len(lengths))
            if positions[k] >= lock and positions[k] + lengths[k] <= segment.first + segment.count
        ]
        heard.append((segment, _heard(rows, positions + error, lengths)))
    joined = segments.join(heard)
    assert joined.frames == len(lengths) and joined.open_seams == 0 and joined.gaps == 0
    assert joined.frames_of_pls == {k % 128: len(range(k % 128, len(lengths), 128)) for k in range(len(lengths))}


@pytest.fixture(scope="module")
def heard_whole(demo):
    """The demo's setting, and all its frames."""
    wishes = {"rolloff": 0.20, "gold_code": 0}
    setting = work.examined(demo, wishes)
    (whole,) = segments.cut(setting, 60)
    return setting, work.received(demo, wishes, setting, whole, build_here()).frames


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_a_frame_that_its_segment_could_not_decode_is_taken_from_its_neighbour(seed, heard_whole):
    chance = random.Random(seed)
    setting, frames = heard_whole
    ends = frames.position + frames.samples
    two = segments.cut(setting, 4.2)
    rows = [[k for k in range(62) if s.first <= frames.position[k] and ends[k] <= s.first + s.count] for s in two]
    both = sorted(set(rows[0]) & set(rows[1]))
    undecoded = [{k for k in both if chance.random() < 0.3}, set()]
    undecoded[1] = {k for k in both if chance.random() < 0.3} - undecoded[0]
    lost = {chance.choice([k for k in range(62) if k not in both]), chance.choice(both)}
    bad = [each | lost for each in undecoded]
    joined = segments.join([(s, _frames_of(frames, r, b)) for s, r, b in zip(two, rows, bad, strict=True)])
    settled = [k for k in rows[1][segments._BEFORE_FRAMES // 2 :] if k in rows[0][:-1]]
    otherwise = [round(frames.position[k]) for k in settled if (k in bad[0]) != (k in bad[1])]
    assert joined.decided_otherwise == otherwise
    alone = segments.join([(segments.cut(setting, 60)[0], _frames_of(frames, range(62), lost))])
    assert len(both) >= 10 and (joined.frames, joined.frames_bad, joined.open_seams) == (62, 2, 0)
    assert joined.packets == alone.packets


def test_a_frame_that_no_segment_or_another_kind_of_frame_could_decode_is_bad(heard_whole):
    setting, frames = heard_whole
    first, second = segments.cut(setting, 4.2)
    ends = frames.position + frames.samples
    rows = [[k for k in range(62) if s.first <= frames.position[k] and ends[k] <= s.first + s.count] for s in (first, second)]
    k = next(k for k in rows[1] if k in rows[0] and first.end <= frames.position[k])
    other = _frames_of(frames, rows[0], set())
    other.pls_code[rows[0].index(k)] ^= 1
    joined = segments.join([(first, other), (second, _frames_of(frames, rows[1], {k}))])
    assert (joined.frames, joined.frames_bad) == (62, 1)


def _frames_of(frames, rows, bad):
    """Some of them, a few of which were not decoded."""
    rows = list(rows)
    good = np.array([k not in bad for k in rows])
    parts = {name: getattr(frames, name)[rows] for name in ("position", "samples", "pls_code", "gap")}
    return segments.Frames(good=good, bbframes=[b"" if k in bad else frames.bbframes[k] for k in rows], **parts)


def _heard(rows, positions, lengths):
    return segments.Frames(
        np.array([positions[k] for k in rows]),
        np.array([lengths[k] for k in rows]),
        np.array([k % 128 for k in rows], np.uint8),
        np.zeros(len(rows), np.bool_),
        np.array([n == 0 for n in range(len(rows))], np.bool_),
        [b""] * len(rows),
    )


def test_a_second_run_does_what_is_new(folder, tmp_path, workers, demo):
    def again():
        return tm.archive.run(folder, tmp_path / "ts", executor=workers, workers=2)

    assert again().received == ["demo.sigmf-meta"]
    assert again().received == []
    slice_of(demo, folder, "part", 0, 700_000)
    assert again().received == ["part.sigmf-meta"]
    (tmp_path / "ts/demo.sigmf-meta.ts").write_bytes(b"somebody else's")
    assert again().received == ["demo.sigmf-meta"]
    slice_of(demo, folder, "part", 1000, 700_000)
    assert again().received == ["part.sigmf-meta"]


def test_one_content_under_two_names_is_received_once(folder, tmp_path, workers):
    for suffix in ("meta", "data"):
        shutil.copy(folder / f"demo.sigmf-{suffix}", folder / f"zcopy.sigmf-{suffix}")
    archive = tm.archive.run(folder, tmp_path / "ts", executor=workers, workers=2)
    assert archive.received == ["demo.sigmf-meta"]
    assert archive.entries["zcopy.sigmf-meta"]["same_as"] == "demo.sigmf-meta"


def test_an_archive_that_is_killed_again_and_again_has_each_recording_once(tmp_path, workers, demo):
    folder = tmp_path / "recordings"
    folder.mkdir()
    for k in range(20):
        slice_of(demo, folder, f"r{k}", 1000 * k, 400_000)
    expected = tm.archive.run(folder, tmp_path / "once", executor=workers, workers=2)
    assert len(expected.entries) == 20 and expected.failed == {}
    program = [sys.executable, "-m", "tidemill.archive.command", str(folder), "-o", str(tmp_path / "ts")]
    deaths = 0
    chance = random.Random(5)
    for _ in range(6):
        archive = subprocess.Popen(program, stderr=subprocess.DEVNULL)
        written = len(list((tmp_path / "ts").glob("*.ts")))
        while archive.poll() is None and len(list((tmp_path / "ts").glob("*.ts"))) == written:
            time.sleep(chance.uniform(0, 0.02))
        if archive.poll() is None:
            archive.kill()
            archive.wait()
            deaths += 1
    assert deaths > 0 and subprocess.run(program, stderr=subprocess.DEVNULL, check=False).returncode == 0
    assert json.loads((tmp_path / "ts/index.json").read_text())["recordings"] == expected.entries
    for name in expected.entries:
        assert (tmp_path / f"ts/{name}.ts").read_bytes() == (tmp_path / f"once/{name}.ts").read_bytes()


def test_workers_that_are_killed_cost_their_segments_only(folder, tmp_path, demo):
    with Processes(2) as executor:

        class Killing(ThreadPoolExecutor):
            count = 0

            def submit(self, fn, /, *args, **kwargs):
                self.count += 1
                future = executor.submit(fn, *args, **kwargs)
                if self.count in (5, 7):
                    for each in multiprocessing.active_children():
                        each.kill()
                return future

        archive = tm.archive.run(folder, tmp_path / "ts", executor=Killing(), workers=2, segment_s=1)
    assert archive.lost > 0
    expected = tm.dvbs2.receive(demo, executor="sequence").packets
    assert (tmp_path / "ts/demo.sigmf-meta.ts").read_bytes() == expected.tobytes()


def test_a_recording_that_changes_while_it_is_read_is_told(monkeypatch, folder, tmp_path):
    meta = folder / "demo.sigmf-meta"
    monkeypatch.setattr("tidemill.archive.join", lambda heard: (os.utime(meta, ns=(1, 1)), segments.join(heard))[1])
    with ThreadPoolExecutor(2) as executor:
        archive = tm.archive.run(folder, tmp_path / "ts", executor=executor)
    assert archive.failed == {"demo.sigmf-meta": "it has changed while it was read: run the archive again"}
    assert archive.entries == {} and not list((tmp_path / "ts").glob("*.ts"))


def test_recordings_that_cannot_be_received_are_told_and_the_others_are_received(folder, tmp_path, capsys):
    (folder / "noise.cf32").write_bytes(random.Random(1).randbytes(8 * 200_000))
    (folder / "empty.sigmf-meta").write_text("{}")
    assert command.main([str(folder), "-o", str(tmp_path / "ts"), "--json"]) == 1
    captured = capsys.readouterr()
    assert "1 received, 2 failed, 1 in the index" in captured.err
    failed = json.loads(captured.out)["failed"]
    assert "--sample-rate" in failed["noise.cf32"] and "empty.sigmf-data" in failed["empty.sigmf-meta"]
    assert "demo.sigmf-meta" in json.loads(captured.out)["recordings"]


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ("[]", "this is no index of an archive"),
        ("{", "this is no index of an archive"),
        ('{"archive_index": 1, "version": "0.0.9", "recordings": {}}', "of version 0.0.9"),
        ('{"archive_index": 1, "version": "0.0.9", "recordings": {"a": 3}}', "it is damaged"),
    ],
)
def test_an_index_that_cannot_be_used_is_refused(index, sentence, folder, tmp_path, capsys):
    (tmp_path / "index.json").write_text(index)
    words = [str(folder), "-o", str(tmp_path / "ts"), "--index", str(tmp_path / "index.json")]
    assert command.main(words) == 3 and sentence in capsys.readouterr().err
    assert (tmp_path / "index.json").read_text() == index


def test_wrong_usage_is_told(folder, tmp_path, capsys):
    assert command.main([str(tmp_path / "nowhere"), "-o", str(tmp_path / "ts")]) == 3
    assert "it is no folder" in capsys.readouterr().err
    assert command.main([str(folder), "-o", str(tmp_path / "ts"), "--segment", "0"]) == 2
    for wrong in (["--rolloff", "wide"], ["--rolloff", "nan"], ["--symbol-rate", "-5"], ["--gold", "x"]):
        with pytest.raises(SystemExit):
            command.main([str(folder), "-o", str(tmp_path / "ts"), *wrong])
        assert f"{wrong[1]!r}: give a" in capsys.readouterr().err
    with pytest.raises(tm.WrongUsage, match="there is no colour"):
        tm.archive.run(folder, tmp_path / "ts", colour=3)
