"""The first page that a user sees of the package runs as it stands there."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import tidemill as tm

RECEIVE = '''
import tidemill as tm, numpy as np
rng = np.random.default_rng(1)

r = tm.dvbs2.receive("pass.sigmf-meta", constellation=True)   # a Report; in a notebook it draws itself
r.frames, r.frames_bad, r.esn0_db, r.packets[:188]            # NumPy, not copied
r.plot.constellation(); r.plot.margin(); r.plot.stages()

curve = tm.dvbs2.ber("QPSK 8/9", frame="short", ebn0=np.arange(3.4, 4.2, .1), errors=100)
curve.plot(compare=["StreamPU", "capacity"]).savefig("fer.pdf")
curve.to_pandas()                                             # frames, wrong, fer, low, high, iterations: integers are integers
'''

STREAM = '''
import tidemill as tm, numpy as np
rng = np.random.default_rng(1)

graph = tm.Graph()
noise = graph.add(tm.task(lambda x, y: np.add(x, rng.normal(size=x.shape), out=y),   # a task in Python
                          x=tm.In(np.float32, 1024), y=tm.Out(np.float32, 1024)))
graph.chain(tm.source(lambda y: y.fill(1)), noise, tm.sink(print))
profile  = tm.profile(graph)
schedule = tm.schedule(profile, cores={"big": 4, "little": 4}, objective="power", watts={"big": 1, "little": .25})
schedule.plot(); tm.simulate(schedule, profile).plot(); tm.Pipeline(graph, schedule).run(frames=1000)
tm.front(profile).plot()                                      # period against power
'''


@pytest.fixture(autouse=True)
def _without_a_window(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)


def test_a_recording_is_received_and_drawn_and_error_rates_are_a_curve(demo):
    pandas = pytest.importorskip("pandas")
    for kind in ("meta", "data"):
        shutil.copy(demo.with_suffix(f".sigmf-{kind}"), f"pass.sigmf-{kind}")
    names: dict = {}
    exec(compile(RECEIVE, "the first page", "exec"), names)  # noqa: S102
    report, curve = names["r"], names["curve"]
    assert report.frames > 0 and report.frames_bad == 0 and report.packets[0] == 0x47
    assert not report.packets.flags.owndata and report.constellation.dtype == np.complex64
    assert Path("fer.pdf").read_bytes().startswith(b"%PDF")
    table = curve.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == 9
    for name in ("frames", "frames_wrong", "bits", "bits_wrong", "ldpc_iterations_total"):
        assert table[name].dtype.kind in "iu", name
    assert table["frames_wrong"][0] >= 100 and table["frame_error_rate"].is_monotonic_decreasing


def test_a_graph_is_profiled_on_this_machine_scheduled_for_another_drawn_simulated_and_run(capsys):
    names: dict = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(compile(STREAM, "the first page", "exec"), names)  # noqa: S102
    printed = capsys.readouterr().out
    assert printed.count("[") >= 1000
    profile, schedule = names["profile"], names["schedule"]
    assert sum(stage.task_count for stage in schedule.stages) == 3
    assert set(schedule.cores) <= {"big", "little"}
    if profile.kinds == ["big"]:
        said = [str(each.message) for each in told if "not measured" in str(each.message)]
        assert "core kind 'little' was not measured: its weights are those of 'big'" in said[0]
        assert 'profile.with_kind("little", times=2)' in said[0]


def test_a_kind_that_was_not_measured_takes_as_long_as_one_says(published_profile):
    profile = tm.Profile.from_json('{"tasks": [{"name": "a", "replicable": true, "weight": {"big": 10}}]}')
    slower = profile.with_kind("little", times=2.5)
    assert slower.data["little_us"] == [25] and profile.kinds == ["big"]
    assert slower.warnings == ["core kind 'little' was not measured: its weights are 2.5 times those of 'big'"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule = tm.schedule(slower, cores={"little": 1})
        assert tm.simulate(schedule).period_us == pytest.approx(25, rel=1e-3)
    with pytest.raises(tm.ScheduleError, match="'big' has weights already"):
        profile.with_kind("big")
    with pytest.raises(tm.ScheduleError, match="like which one"):
        tm.Profile.read(published_profile).with_kind("mid")
    with pytest.warns(RuntimeWarning, match="'little' was not measured"):
        schedule = tm.schedule(profile, cores={"big": 0, "little": 2}, objective="power", watts={"little": 0.25})
    assert schedule.cores == {"little": 2} and schedule.period_us == pytest.approx(5)


def test_a_front_without_watts_counts_busy_cores_and_says_so(published_profile):
    profile = tm.Profile.read(published_profile)
    cores = {"big": 4, "little": 4}
    front = tm.front(profile, cores=cores)
    assert front.assumed == "1 W per busy core assumed"
    assert [sum(each.cores.values()) for each in front.schedules] == pytest.approx(front.powers_w)
    figure = front.plot()
    assert front.assumed in str(figure.note) and front.assumed in figure.axes.get_title()
    told = tm.front(profile, cores=cores, watts=dict.fromkeys(cores, 1.0))
    assert told.powers_w == front.powers_w and told.assumed == ""
    assert "assumed" not in str(told.plot().note)
