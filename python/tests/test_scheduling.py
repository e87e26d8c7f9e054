"""Profiles, schedules, fronts, simulation."""

import json

import numpy as np
import pytest

import tidemill as tm

WATTS = {"big": 1.0, "little": 0.25}
CORES = {"big": 4, "little": 4}


@pytest.fixture(scope="module")
def profile(published_profile):
    return tm.Profile.read(published_profile)


@pytest.fixture(scope="module")
def schedule(profile):
    return tm.schedule(profile, cores=CORES, objective="power", watts=WATTS)


def test_profiles_and_schedules_are_files(profile, schedule, tmp_path):
    profile.write(tmp_path / "profile.json")
    schedule.write(tmp_path / "schedule.json")
    assert tm.Profile.read(tmp_path / "profile.json") == profile
    assert tm.Profile.from_json(profile.to_json()) == profile
    assert tm.Schedule.read(tmp_path / "schedule.json").to_json() == schedule.to_json()


def test_a_schedule_has_all_tasks_and_no_more_cores_than_given(profile, schedule):
    assert sum(stage.task_count for stage in schedule.stages) == len(profile.data["task"])
    assert all(count <= CORES[kind] for kind, count in schedule.cores.items())
    told = schedule.describe()
    assert told.period == pytest.approx(schedule.period_us)
    assert told.period == pytest.approx(max(stage.weight for stage in told.stages))
    assert told.bound.period <= told.period


def test_strategies_objectives_and_rates_are_obeyed(profile):
    best = tm.schedule(profile, cores=CORES)
    assert tm.schedule(profile, cores=CORES, strategy="fertac").period_us >= best.period_us
    relaxed = tm.schedule(profile, cores=CORES, watts=WATTS, objective="power", period_us=4 * best.period_us)
    powers = [each.describe(cores=CORES, watts=WATTS).power for each in (best, relaxed)]
    assert relaxed.period_us <= 4 * best.period_us and powers[1] < powers[0]


def test_the_front_goes_from_fast_to_frugal(profile):
    front = tm.front(profile, watts=WATTS, cores=CORES)
    assert len(front) > 3
    assert np.all(np.diff(front.periods_us) > 0) and np.all(np.diff(front.powers_w) < 0)


def test_a_simulation_without_jitter_has_the_predicted_period(schedule):
    simulation = tm.simulate(schedule)
    assert simulation.period_us == pytest.approx(schedule.period_us, rel=1e-3)
    assert {step[2] for step in simulation.steps} == set(range(24))
    assert tm.simulate(schedule, jitter=0.2).period_us > simulation.period_us


def test_a_graph_is_profiled_scheduled_and_run():
    got = []
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: y.fill(1), y=tm.Out(np.float32, 64)),
                tm.task(lambda x, y: np.add(x, 1, out=y), name="plus", x=tm.In(np.float32, 64),
                        y=tm.Out(np.float32, 64)),
                tm.sink(lambda x: got.append(float(x[0]))))  # fmt: skip
    profile = tm.profile(graph, frames=50)
    assert profile.data["task"] == graph.units == ["source.source", "plus.plus", "sink.sink"]
    assert not any(profile.data["replicable"])
    schedule = tm.schedule(profile)
    got.clear()
    assert tm.Pipeline(graph, schedule).run(frames=100).frames == 100
    assert got == [2.0] * 100
    assert "<svg" in graph.to_svg(schedule)


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"cores": {"huge": 1}}, "huge"),
        ({"cores": {"big": 0}}, "core"),
        ({"cores": CORES, "strategy": "magic"}, "magic"),
        ({"cores": CORES, "objective": "fun"}, "fun"),
        ({"cores": CORES, "watts": {"big": 1.0}, "objective": "power"}, "little"),
        ({"cores": CORES, "period_us": -1}, "period"),
        ({"cores": "big:4"}, "big:4"),
    ],
)
def test_wishes_that_cannot_be_are_told(profile, wishes, sentence):
    with pytest.raises(tm.ScheduleError, match=sentence):
        tm.schedule(profile, **wishes)


def test_files_that_cannot_be_used_are_told(tmp_path):
    (tmp_path / "bad.json").write_text('{"tasks": 5}')
    for read in (tm.Profile.read, tm.Schedule.read):
        with pytest.raises(tm.Error, match="bad.json"):
            read(tmp_path / "bad.json")
        with pytest.raises(tm.Error, match="missing.json"):
            read(tmp_path / "missing.json")


def test_a_schedule_of_another_chain_is_refused(profile):
    with pytest.raises(tm.ScheduleError):
        tm.simulate(tm.Schedule.of((2, 1)), profile)
    with pytest.raises(tm.ScheduleError, match="give it as profile="):
        tm.simulate(tm.Schedule.of((2, 1)))


def test_a_mixed_schedule_says_whose_turn_it_is_and_is_drawn():
    weight = {"big": 20, "little": 40}
    profile = tm.Profile.from_json(json.dumps({"tasks": [{"name": "work", "replicable": True, "weight": weight}]}))
    mixed = tm.schedule(profile, cores={"big": 1, "little": 1}, strategy="mixed")
    assert mixed.period_us == pytest.approx(40 / 3)
    assert mixed.stages[0].word == ["big:1", "little:1", "big:1"]
    assert mixed.plot(profile).data["share_us"] == [pytest.approx(40 / 3)]
