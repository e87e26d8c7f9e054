"""The receiver and its error rates from Python."""

import os
import threading

import numpy as np
import pytest

import tidemill as tm


@pytest.fixture(scope="module")
def report(demo):
    return tm.dvbs2.receive(demo, constellation=True, executor="sequence")


def test_the_demo_recording_gives_its_transport_stream(report, demo_ts):
    assert report.packets.dtype == np.uint8
    assert bytes(report.packets[: len(demo_ts)]) == demo_ts
    assert (report.frames, report.frames_bad, report.ts_packets) == (62, 0, 1992)
    assert len(report.packets) == 188 * 1992


def test_every_executor_receives_the_same(report, demo):
    for executor in ("pipeline", "threads", "dynamic"):
        other = tm.dvbs2.receive(demo, executor=executor, profile_s=0.1, constellation=True)
        assert np.array_equal(other.packets, report.packets)
        assert np.array_equal(other.constellation, report.constellation)
        assert np.array_equal(other.frame_esn0_db, report.frame_esn0_db)


def test_nobody_need_name_an_executor_and_a_schedule_has_stages(report, demo, tmp_path):
    pipe = tmp_path / "samples"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(demo.with_suffix(".sigmf-data").read_bytes()))
    writer.start()
    live = tm.dvbs2.receive(pipe, format="ci8", sample_rate_hz=500e3)
    writer.join()
    # So short a stream may end in a trial of any of them; the last one is reported.
    for received in (live, tm.dvbs2.receive(demo)):
        assert received.executor in ("sequence", "pipeline", "dynamic", "threads")
        assert np.array_equal(received.packets, report.packets)
    cut = tm.schedule(tm.dvbs2.profile(demo, seconds=0.1))
    assert tm.dvbs2.receive(demo, schedule=cut).executor == "pipeline"


def test_arrays_are_not_copied(report):
    for array in (report.packets, report.constellation, report.frame_good):
        assert not array.flags.owndata and array.base is not None


def test_the_constellation_has_unit_energy_and_the_noise_that_the_report_tells(report):
    assert len(report.constellation) == 32 * 32400
    points = report.constellation
    assert np.mean(np.abs(points) ** 2) == pytest.approx(1 + 10 ** (-report.esn0_db / 10), rel=0.01)
    nearest = (np.sign(points.real) + 1j * np.sign(points.imag)) / np.sqrt(2)
    assert -10 * np.log10(np.mean(np.abs(points - nearest) ** 2)) == pytest.approx(report.esn0_db, abs=0.3)


def test_each_frame_has_its_margin(report):
    assert report.frame_good.dtype == np.bool_ and report.frame_good.all() and len(report.frame_good) == 62
    assert np.allclose(report.frame_esn0_db - report.frame_margin_db, 4.03)  # QPSK 3/4, table 13
    assert report.frame_ldpc_iterations.sum() / 62 == pytest.approx(report.ldpc_iterations)


def test_reports_have_attributes_entries_and_text(report):
    assert report["frames"] == report.frames and report.losses.frames_bad == 0
    assert "QPSK 3/4" in repr(report) and "<pre>" in report._repr_html_()
    with pytest.raises(AttributeError, match="no 'frame_rate'; there are: "):
        _ = report.frame_rate


def test_the_stream_is_written_where_wanted(demo, demo_ts, tmp_path):
    tm.dvbs2.receive(demo, executor="sequence", output=tmp_path / "video.ts")
    assert (tmp_path / "video.ts").read_bytes()[: len(demo_ts)] == demo_ts


@pytest.mark.parametrize(
    ("wishes", "error", "sentence"),
    [
        ({"rolloff": "wide"}, tm.WrongUsage, "rolloff='wide': give a number or 'auto'"),
        ({"rolloff": 0.9}, tm.WrongUsage, "0.9"),
        ({"gold_code": -1}, tm.WrongUsage, "-1"),
        ({"symbol_rate_hz": 1.0}, tm.WrongUsage, "rate"),
        ({"format": "cf33"}, tm.WrongUsage, "cf33"),
        ({"executor": "parallel"}, tm.WrongUsage, "parallel"),
        ({"symbol_rate_hz": 100e3, "executor": "sequence"}, tm.JobFailed, "--symbol-rate"),
    ],
)
def test_settings_that_cannot_be_are_told(demo, wishes, error, sentence):
    with pytest.raises(error, match=sentence):
        tm.dvbs2.receive(demo, **wishes)


def test_files_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(tm.IoError, match="nothing.sigmf-meta"):
        tm.dvbs2.receive(tmp_path / "nothing.sigmf-meta")
    with pytest.raises(tm.Error):
        tm.dvbs2.receive(tmp_path)


def test_a_profile_of_the_receiver_schedules_it(demo):
    profile = tm.dvbs2.profile(demo, seconds=0.2)
    assert "ldpc.decode" in profile.data["task"]
    kind = profile.kinds[0]
    schedule = tm.schedule(profile, cores={kind: min(2, profile.cores[kind])})
    assert tm.dvbs2.receive(demo, schedule=schedule).frames == 62


def test_error_counts_are_those_of_the_program_and_the_same_again():
    wishes = {"frame": "short", "ebn0": [3.6, 5.0], "errors": 10, "frames": 100}
    curve = tm.dvbs2.ber("QPSK 8/9", **wishes)
    again = tm.dvbs2.ber("QPSK 8/9", threads=1, **wishes)
    assert curve.data["frames"].dtype.kind == "i" and curve.data["frames_wrong"].dtype.kind == "i"
    assert curve.data["frames_wrong"][0] >= 10 and curve.data["frames_wrong"][1] == 0
    low, fer, high = (curve.data[f"frame_error_rate{end}"] for end in ("_low", "", "_high"))
    assert (low <= fer).all() and (fer <= high).all()
    for name, column in curve.data.items():
        assert np.array_equal(column, again.data[name], equal_nan=column.dtype.kind == "f"), name


def test_parts_of_a_count_add_up_to_the_whole():
    wishes = {"frame": "short", "esn0": 6.05, "errors": 1000, "threads": 1}
    whole = tm.dvbs2.ber("QPSK 8/9", frames=60, **wishes)
    parts = [tm.dvbs2.ber("QPSK 8/9", first_frame=first, frames=n, **wishes) for first, n in ((0, 25), (25, 35))]
    for name, column in whole.data.items():
        if column.dtype.kind == "i":
            assert sum(part.data[name][0] for part in parts) == column[0], name
    with pytest.raises(tm.WrongUsage, match="cuts a burst of 20 frames"):
        tm.dvbs2.ber("QPSK 8/9", sync="full", burst=20, first_frame=30, frames=20, esn0=9, frame="short")


def test_an_instruction_set_may_be_named():
    best = tm.dvbs2.instruction_sets()[0]
    assert len(tm.dvbs2.ber("QPSK 1/2", frame="short", margin=1, frames=5, target=best)) == 1
    with pytest.raises(tm.Error, match=f"no instruction set 'AVX9': there are {best}"):
        tm.dvbs2.ber("QPSK 1/2", frame="short", margin=1, frames=5, target="AVX9")


def test_counts_become_a_table_of_pandas():
    pandas = pytest.importorskip("pandas")
    table = tm.dvbs2.ber("QPSK 1/2", frame="short", margin=1.0, errors=5, frames=10).to_pandas()
    assert isinstance(table, pandas.DataFrame) and table["frames"].dtype == np.int64


@pytest.mark.parametrize(
    "wishes",
    [
        {"modcod": "QPSK 7/9", "ebn0": 4},
        {"modcod": "QPSK 9/10", "ebn0": 4, "frame": "short"},
        {"modcod": "QPSK 8/9", "ebn0": 4, "esn0": 4},
        {"modcod": "QPSK 8/9", "ebn0": 4, "frame": "tiny"},
        {"modcod": "QPSK 8/9", "ebn0": 4, "errors": 0},
        {"modcod": "QPSK 8/9", "ebn0": float("nan")},
        {"modcod": "QPSK 8/9", "ebn0": np.arange(4, 3, 0.1)},
    ],
)
def test_counts_that_cannot_be_are_told(wishes):
    with pytest.raises(tm.WrongUsage):
        tm.dvbs2.ber(wishes.pop("modcod"), **wishes)
