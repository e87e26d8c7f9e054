"""Every figure has its data and a note of how it came about, and is a file of the kind that its name says."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import tidemill as tm
from tidemill import figures as draw
from tidemill.demo import random_packets
from tidemill.figures.reproduced import table_figure
from tidemill.figures.style import COLOURS, grey_of, ink_on

pytest.importorskip("matplotlib")
WATTS = {"big": 1.0, "little": 0.25}


@pytest.fixture(scope="module")
def figures(demo, published_profile, tmp_path_factory):
    report = tm.dvbs2.receive(demo, constellation=4, executor="threads")
    profile = tm.Profile.read(published_profile)
    schedule = tm.schedule(profile, cores={"big": 4, "little": 4})
    samples = tm.dvbs2.Transmitter("QPSK 1/2", frame="short").send(random_packets(20))
    graph = tm.Graph()
    graph.chain(tm.source(range(40), y=tm.Out(np.int32)), tm.sink(lambda x: None))
    tm.Pipeline(graph, tm.Schedule.of((1, 1), (1, 1))).run(trace=tmp_path_factory.mktemp("trace") / "run.json")
    trace = next(tmp_path_factory.getbasetemp().glob("trace*/run.json"))
    curve = tm.dvbs2.ber(["QPSK 8/9", "8PSK 2/3"], frame="short", margin=[-0.2, 0.5], errors=5, frames=20)
    return {
        "constellation": report.plot.constellation(),
        "margin": report.plot.margin(),
        "stages": report.plot.stages(),
        "schedule": schedule.plot(),
        "gantt": tm.simulate(schedule, jitter=0.1, seed=7).plot(),
        "front": tm.front(profile, watts=WATTS).plot(),
        "spectrum": report.plot.spectrum(),
        "eye": draw.eye(samples[2000:]),
        "trace": draw.trace(trace, frames=10),
        "slowdowns": tm.slowdowns(chains=20, seed=3).plot(),
        "workers": tm.simulate_tasks("fig4.6a", workers=3, iterations=50).plot(),
        "rates": curve.plot(compare=["StreamPU", "capacity"]),
    }


NAMES = ("constellation", "margin", "stages", "schedule", "gantt", "front", "rates", "spectrum", "eye", "trace",
         "slowdowns", "workers")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_data_are_tidy_columns(figures, name):
    lengths = {len(column) for column in figures[name].data.values()}
    assert len(lengths) == 1 and lengths.pop() > 0
    lines = figures[name].to_csv().splitlines()
    assert lines[0].startswith("# tidemill ") and lines[1] == ",".join(figures[name].data)


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_get_a_drawing_with_the_note(figures, name):
    drawing = figures[name]._repr_svg_()
    assert drawing.startswith("<?xml") and "tidemill " in drawing
    assert len(drawing) < 1_500_000  # clouds of points are pictures in it


@pytest.mark.parametrize("name", NAMES)
def test_files_are_what_their_names_say_and_have_the_note(figures, name, tmp_path):
    for suffix, begin in ((".pdf", b"%PDF"), (".png", b"\x89PNG"), (".svg", b"<?xml")):
        figures[name].savefig(tmp_path / f"figure{suffix}")
        content = (tmp_path / f"figure{suffix}").read_bytes()
        assert content.startswith(begin)
        if suffix != ".pdf":
            assert tm.__version__.encode() in content
        else:
            assert b"/Type3" not in content  # fonts are embedded as TrueType
    assert figures[name]._repr_png_().startswith(b"\x89PNG")


def test_notes_tell_call_and_seed(figures):
    assert "tidemill.dvbs2.ber(['QPSK 8/9', '8PSK 2/3']" in str(figures["rates"].note)
    assert figures["rates"].note.seed == 1 and figures["gantt"].note.seed == 7
    assert figures["front"].note.version == tm.__version__


def test_comparisons_are_in_the_data(figures):
    who = figures["rates"].data["who"]
    assert {"tidemill", "capacity", "StreamPU (min-sum, 10 iterations)"} == set(who)
    limits = [db for name, db in zip(who, figures["rates"].data["ebn0_db"], strict=True) if name == "capacity"]
    bits = 14232 / 8100  # QPSK 8/9 short: EN 302 307-1, table 5b
    assert limits[0] == pytest.approx(10 * np.log10((2**bits - 1) / bits), abs=1e-6)


def test_a_spectrum_has_the_power_of_its_samples(demo):
    rng = np.random.default_rng(1)
    noise = rng.normal(scale=0.5, size=(1 << 16, 2)).view(complex).ravel()
    data = draw.spectrum(noise, sample_rate_hz=1e6, bins=64).data
    assert np.sum(10 ** (data["power_db"] / 10)) * 1e6 / 64 == pytest.approx(0.5, rel=0.02)
    tone = np.exp(2j * np.pi * 0.25 * np.arange(4096))
    data = draw.spectrum(tone, bins=64).data
    assert data["frequency"][np.argmax(data["power_db"])] == 0.25
    samples = tm.read_samples(demo)
    data = samples.plot().data
    carrier = 10 ** (data["power_db"] / 10)
    inside = np.abs(data["frequency_hz"]) < 0.3 * samples.sample_rate_hz
    assert len(samples) == 1 << 20 < samples.recorded
    assert carrier[inside].mean() > 3 * carrier[~inside].mean()


def test_the_eye_of_what_is_sent_is_open_where_its_symbols_are(figures):
    data = figures["eye"].data
    there = np.abs(data["i"][data["time"] == 0])
    between = np.abs(data["i"][data["time"] == 0.5])
    assert there.std() < 0.1 * there.mean() and there.std() < between.std() / 4


def test_slowdowns_are_over_the_best_and_repeatable(figures):
    data = figures["slowdowns"].data
    assert data["slowdown"].min() == 1 and set(data["slowdown"][data["strategy"] == "herad"]) == {1}
    again = tm.slowdowns(chains=20, seed=3).data
    assert (again["slowdown"] == data["slowdown"]).all()


def test_a_trace_has_each_frame_in_each_stage(figures):
    data = figures["trace"].data
    assert sorted(set(data["frame"])) == list(range(15, 25)) and len(set(data["thread"])) == 2
    assert len(data["frame"]) == 20
    assert all(begin <= end for begin, end in zip(data["begin_us"], data["end_us"], strict=True))


def test_what_cannot_be_drawn_is_told(demo, tmp_path):
    for samples in ([1, 2], [np.nan] * 5000):
        with pytest.raises(tm.WrongUsage, match="samples: give"):
            draw.spectrum(samples)
        with pytest.raises(tm.WrongUsage, match="samples: give"):
            draw.eye(samples)
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(tm.WrongUsage, match="no trace of a run"):
        draw.trace(tmp_path / "no.json")
    with pytest.raises(tm.IoError, match="nowhere"):
        tm.read_samples(tmp_path / "nowhere.cf32")
    report = tm.dvbs2.receive(demo, executor="sequence")
    with pytest.raises(tm.WrongUsage, match="constellation=True"):
        report.plot.constellation()
    curve = tm.dvbs2.ber("QPSK 1/2", frame="short", margin=1, errors=1, frames=1)
    with pytest.raises(tm.WrongUsage, match="Wonder"):
        curve.plot(compare=["Wonder"])


def test_a_spectrum_without_a_rate_is_over_cycles_per_sample():
    noise = np.random.default_rng(1).normal(scale=0.5, size=(1 << 14, 2)).view(complex).ravel()
    figure = draw.spectrum(noise, bins=64)
    assert figure.axes.get_xlabel() == "frequency in cycles per sample"
    assert figure.axes.get_ylabel() == "dB of full scale\nper cycle/sample"
    assert np.mean(10 ** (figure.data["power_db"] / 10)) == pytest.approx(0.5, rel=0.05)


def table_of(**data):
    made = tm.reproduce("fig9")
    return made, dataclasses.replace(made.tables[0], data={name: np.array(each) for name, each in data.items()})


def test_each_quantity_of_a_table_has_a_panel_with_what_was_published_of_it():
    made, table = table_of(**{"machine": ["a", "a", "b"], "cores": [1, 2, 1], "Mb/s": [10.0, 20, 30], "+-": [1.0, 1, 1],
                              "Mb/s publ.": [11.0, 19, np.nan], "W": [1.0, 2, 3], "agrees": ["yes", "yes", "no"]})  # fmt: skip
    rate, watts = table_figure(made, table).axes
    assert (rate.get_xlabel(), watts.get_xlabel()) == ("Mb/s", "W")
    assert [label.get_text() for label in rate.get_yticklabels()] == ["a, 1", "a, 2", "b, 1"]
    assert [bar.get_width() for bar in rate.patches] == [10, 20, 30]
    assert list(rate.lines[-1].get_xdata()[:2]) == [11, 19]
    (only,) = table_figure(made, table, ["W"]).axes
    assert [bar.get_width() for bar in only.patches] == [1, 2, 3]
    with pytest.raises(tm.WrongUsage, match="'agrees' is no column of numbers; there are: cores, Mb/s"):
        table_figure(made, table, ["agrees"])


def test_lines_of_one_unit_share_a_panel_and_others_do_not():
    made, table = table_of(workers=[1, 2, 4], fifo=[1.0, 2, 3], lifo=[3.0, 2, 1])
    assert len(table_figure(made, table).axes) == 1
    made, table = table_of(**{"stage": [1, 2], "us": [5.0, 6], "us publ.": [5.0, 7], "Mb/s": [100.0, 200]})
    assert [axes.get_ylabel() for axes in table_figure(made, table).axes] == ["us", "Mb/s"]


def test_colours_stay_apart_in_grey_and_ink_can_be_read_on_each():
    greys = [grey_of(colour) for colour in COLOURS]
    assert all(lighter - darker > 12 for darker, lighter in zip(greys, greys[1:], strict=False))
    assert all(abs((0 if ink_on(colour) == "black" else 255) - grey_of(colour)) > 110 for colour in COLOURS)


def test_matplotlib_is_imported_only_when_used():
    check = "import sys, tidemill; assert not [m for m in sys.modules if m.startswith('matplotlib')]"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_the_settings_of_matplotlib_stay_as_they_are(figures):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figures["front"]._repr_png_()
    assert dict(matplotlib.rcParams) == before


def test_what_could_not_be_made_again_here_is_drawn_as_its_notes():
    made = tm.reproduce("fig6", chains=10, timed=1)
    empty = dataclasses.replace(made.tables[0], data={}, notes=["it takes a machine that is not here"])
    figure = table_figure(made, empty)
    assert [text.get_text() for text in figure.axes.texts] == ["it takes a machine that is not here"]
