"""What an engine costs, and whether a cut is worth it."""

import dataclasses
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemill as tm
import tidemill.remote
import tidemill.sweep
from tidemill.batches import Line
from tidemill.remote import calibrate, calibrate_command, command, cost
from tidemill.remote.cost import EngineCost, Work
from tidemill.sweep.engines import handed_in
from tidemill.sweep.processes import Processes

FREE = EngineCost("processes", 2, 0, *[Line(0.0, 0.0)] * 4)
DEAR = EngineCost("processes", 2, 0, Line(200.0, 0.001), Line(300.0, 0.001), Line(400.0, 0.002), Line(900.0, 0.003))
NEAR_THRESHOLD = Work(rest_us=300.0, decode_us=600.0, frame_bytes=64800)

us = st.floats(0, 1e4)
lines = st.builds(Line, us, st.floats(0, 0.1))
costs = st.builds(EngineCost, st.just("ray"), st.integers(1, 64), st.just(0), lines, lines, lines, lines)
works = st.builds(Work, st.floats(1, 1e4), st.floats(1, 1e4), st.sampled_from([16200, 64800]))


def test_an_engine_that_costs_nothing_leaves_the_larger_share():
    choice = cost.choose(FREE, NEAR_THRESHOLD)
    assert choice.cut.period_us == 300.0 and choice.cut.frames == 1
    one = dataclasses.replace(FREE, workers=1)
    assert cost.choose(one, NEAR_THRESHOLD).cut.period_us == 600.0


def test_head_and_helpers_that_share_a_core_win_nothing():
    choice = cost.choose(dataclasses.replace(DEAR, cores=1), NEAR_THRESHOLD)
    assert choice.cut is None
    assert choice.why.startswith("decode stays here, where a frame takes 900 us: with processes:2 in batches of ")
    assert "bound by the cores of head and helpers" in choice.why and choice.why.endswith(" us more")


def test_a_batch_is_as_large_as_its_costs_ask_for_and_its_latency_allows():
    free_of_bound = cost.choose(DEAR, NEAR_THRESHOLD).cut
    soon = cost.choose(DEAR, NEAR_THRESHOLD, latency_us=15_000).cut
    assert soon.frames < free_of_bound.frames and soon.latency_us <= 15_000
    assert soon.period_us > free_of_bound.period_us
    never = cost.choose(DEAR, NEAR_THRESHOLD, latency_us=1_000)
    assert never.cut is None and "decode stays here: processes:2 has no batch back in 1.0 ms, the soonest in " in never.why


@given(engine=costs, work=works, latency_us=st.none() | st.floats(1, 1e7))
def test_what_is_chosen_is_faster_than_here_and_back_in_time(engine, work, latency_us):
    choice = cost.choose(engine, work, latency_us)
    assert choice.why.startswith("decode ")
    if choice.cut is not None:
        assert max(work.rest_us, work.decode_us / engine.workers) <= choice.cut.period_us * (1 + 1e-9)
        assert choice.cut.period_us < work.here_us
        assert latency_us is None or choice.cut.latency_us <= latency_us


@given(engine=costs, work=works, frames=st.integers(1, 500))
def test_a_dearer_engine_is_never_faster(engine, work, frames):
    dearer = dataclasses.replace(engine, head=Line(engine.head.batch_us + 1, engine.head.byte_us * 2))
    assert cost.forecast(dearer, work, frames).period_us >= cost.forecast(engine, work, frames).period_us


@given(engine=costs)
def test_a_model_comes_back_from_its_file(engine, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "engine.json"
    path.write_text(engine.to_json())
    assert cost.read_cost(path) == engine


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"engine_cost": 2}, "it is no engine's model"),
        ({"version": "0.0.9"}, "calibrate again"),
        ({"workers": 0}, "workers = 0: give a whole number from 1"),
        ({"head": {"batch_us": 1, "byte_us": -1}}, r"\[head\]: byte_us = -1"),
        ({"head": {"batch_us": 1}}, r"\[head\]: byte_us is missing"),
        ({"wire": 1}, "there is no wire"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(change, sentence, tmp_path):
    path = tmp_path / "engine.json"
    path.write_text(json.dumps({**json.loads(DEAR.to_json()), **change}))
    with pytest.raises(tm.sweep.SweepError, match=sentence):
        cost.read_cost(path)
    path.write_text("{")
    with pytest.raises(tm.sweep.SweepError, match="it is no engine's model"):
        cost.read_cost(path)
    with pytest.raises(tm.sweep.SweepError, match="calibrate --engine writes one"):
        cost.read_cost(tmp_path / "nowhere.json")


def test_what_is_measured_of_processes_is_a_model():
    with Processes(1) as helpers:
        found = calibrate.measure(handed_in(helpers, 1), "processes")
    assert (found.engine, found.workers) == ("processes", 1)
    assert found.latency.of(1 << 18) > 0 and found.head.of(1 << 18) > 0 and found.helper.of(1 << 18) > 0
    assert found.latency.of(1 << 18) < 1e6


def test_a_cut_that_loses_is_refused_and_the_stream_is_the_same(demo):
    expected = tm.dvbs2.receive(demo, executor="sequence").packets.tobytes()
    ruinous = dataclasses.replace(DEAR, head=Line(1e6, 1.0))
    told = []
    to = io.BytesIO()
    report = tm.remote.receive(demo, to, workers=2, cost=ruinous, tell=told.append)
    assert to.getvalue() == expected
    assert report.frames_here == report.frames == 62 and report.batch_frames == 0 and report.failure == ""
    assert told == [report.decision] and report.decision.startswith("decode stays here, where a frame takes ")


def test_a_cut_that_wins_is_taken_in_batches_of_the_size_that_was_found(demo):
    expected = tm.dvbs2.receive(demo, executor="sequence").packets.tobytes()
    to = io.BytesIO()
    report = tm.remote.receive(demo, to, workers=2, cost=FREE)
    assert to.getvalue() == expected
    assert report.batch_frames == 1 and 0 < report.frames_here < 62 and report.decision.startswith("decode goes to processes:2")
    assert report.batches == 62 - report.frames_here


def test_models_of_other_engines_and_settings_without_sense_are_refused(demo, tmp_path, capsys):
    (tmp_path / "engine.json").write_text(DEAR.to_json())
    words = [str(demo), "-o", str(tmp_path / "video.ts"), "--model", str(tmp_path / "engine.json")]
    assert command.main([*words, "--stage", "decode=processes:3"]) == 2
    assert "the model is of processes:2, not of processes:3: tidemill calibrate --engine processes:3" in capsys.readouterr().err
    assert not (tmp_path / "video.ts").exists()  # one that was there would be no more
    assert command.main([*words, "--stage", "decode=processes:2", "--batch-bytes", "9"]) == 2
    assert "--batch-bytes is for --always" in capsys.readouterr().err
    with pytest.raises(tm.WrongUsage, match="latency_us: give more than 0"):
        tm.remote.receive(demo, io.BytesIO(), latency_us=5.0)
    for engine in ("mpi", "processes:0", ""):
        with pytest.raises(SystemExit):
            calibrate_command.main(["--engine", engine])


def test_the_program_writes_a_model_that_the_receiver_reads(demo, tmp_path, capsys):
    model = str(tmp_path / "engine.json")
    assert calibrate_command.main(["--engine", "processes:1", "-o", model]) == 0
    assert "there and back" in capsys.readouterr().out
    words = [str(demo), "-o", str(tmp_path / "video.ts"), "--stage", "decode=processes:1", "--model", model, "--json"]
    assert command.main(words) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["decision"] + "\n" == captured.err
    assert calibrate_command.main(["--engine", "processes:1", "-o", str(tmp_path / "no/folder")]) == 1
    assert "cannot be written" in capsys.readouterr().err
