"""Every figure has its data and a note of how it came about, and is a file of the kind that its name says."""

import subprocess
import sys

import numpy as np
import pytest

import tidemill as tm

pytest.importorskip("matplotlib")
WATTS = {"big": 1.0, "little": 0.25}


@pytest.fixture(scope="module")
def figures(demo, published_profile):
    report = tm.dvbs2.receive(demo, constellation=4, executor="threads")
    profile = tm.Profile.read(published_profile)
    schedule = tm.schedule(profile, cores={"big": 4, "little": 4})
    curve = tm.dvbs2.ber(["QPSK 8/9", "8PSK 2/3"], frame="short", margin=[-0.2, 0.5], errors=5, frames=20)
    return {
        "constellation": report.plot.constellation(),
        "margin": report.plot.margin(),
        "stages": report.plot.stages(),
        "schedule": schedule.plot(),
        "gantt": tm.simulate(schedule, jitter=0.1, seed=7).plot(),
        "front": tm.front(profile, watts=WATTS).plot(),
        "rates": curve.plot(compare=["StreamPU", "capacity"]),
    }


NAMES = ("constellation", "margin", "stages", "schedule", "gantt", "front", "rates")


@pytest.mark.parametrize("name", NAMES)
def test_data_are_tidy_columns(figures, name):
    lengths = {len(column) for column in figures[name].data.values()}
    assert len(lengths) == 1 and lengths.pop() > 0
    lines = figures[name].to_csv().splitlines()
    assert lines[0].startswith("# tidemill ") and lines[1] == ",".join(figures[name].data)


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


def test_what_cannot_be_drawn_is_told(demo):
    report = tm.dvbs2.receive(demo, executor="sequence")
    with pytest.raises(tm.WrongUsage, match="constellation=True"):
        report.plot.constellation()
    curve = tm.dvbs2.ber("QPSK 1/2", frame="short", margin=1, errors=1, frames=1)
    with pytest.raises(tm.WrongUsage, match="Wonder"):
        curve.plot(compare=["Wonder"])


def test_matplotlib_is_imported_only_when_used():
    check = "import sys, tidemill; assert not [m for m in sys.modules if m.startswith('matplotlib')]"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_the_settings_of_matplotlib_stay_as_they_are(figures):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figures["front"]._repr_png_()
    assert dict(matplotlib.rcParams) == before
