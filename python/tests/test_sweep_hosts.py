"""Sweeps of simulated hosts: what a row says is what the simulation says of its runs."""

import copy
import itertools

import pytest

import tidemill as tm
import tidemill.sweep
from tidemill.batches import Line
from tidemill.host_simulation import Carrier, Hosts, Link, simulate
from tidemill.sweep.chains import seed_of

PLAN = {
    "count": "hosts",
    "seed": 4,
    "hosts": {
        "carriers": 2,
        "helpers": [1, 3],
        "link_gbit": [1, 10],
        "batch_frames": 4,
        "head_cores": 4,
        "helper_cores": 2,
        "frame": {
            "symbols": 33282,
            "rest_us": 400,
            "slowest_us": 120,
            "decode_us": 500,
            "decode_deviation": 0.3,
            "bbframe_bytes": 4026,
        },
        "engine": {"head": {"batch_us": 200, "byte_us": 0.001}, "helper": {"batch_us": 300, "byte_us": 0.001}},
    },
    "until": {"runs": 3},
}


def changed(path, value):
    plan = copy.deepcopy(PLAN)
    table = plan
    for name in path[:-1]:
        table = table[name]
    table[path[-1]] = value
    return plan


def test_a_row_is_the_mean_of_its_runs():
    rows = tm.sweep.run(PLAN, workers=1).rows
    engine = {"sender": Line(200, 0.001), "receiver": Line(300, 0.001)}
    carrier = Carrier(33282, 400, 120, 500, 64800, 4026, decode_deviation=0.3)
    for row, (helpers, link) in zip(rows, itertools.product([1, 3], [1, 10]), strict=True):
        assert (row["helpers"], row["link_gbit"], row["runs"]) == (helpers, link, 3)
        hosts = Hosts(helpers, 4, 2, Link(link * 1e9, 0), **engine, frames=4)
        runs = [simulate([carrier] * 2, hosts, 200, seed_of(4, n)) for n in range(3)]
        assert row["symbol_rate_hz"] == pytest.approx(sum(run.symbol_rate_hz for run in runs) / 3, rel=1e-6)
        assert row["latency_us"] == pytest.approx(sum(run.latency_us for run in runs) / 3, rel=1e-6)
        assert row["busiest"] == runs[0].bound and 0.5 < row["busy"] <= 1
        assert len({run.symbol_rate_hz for run in runs}) == 3
    assert [row["busiest"] for row in rows] == ["links into helpers", "helpers' cores", "links out of heads", "helpers' cores"]


def test_workers_and_ranges_change_nothing():
    expected = tm.sweep.run(PLAN, workers=1).rows
    for workers, runs in ((2, 1), (3, 2)):
        assert tm.sweep.run({**PLAN, "ranges": {"runs": runs}}, workers=workers).rows == expected


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["hosts", "helpers"], [2.5], "helpers = .*give whole numbers from 1 to 4096"),
        (["hosts", "helpers"], [], "give whole numbers"),
        (["hosts", "link_gbit"], 0, "link_gbit = 0: give 0.001 to"),
        (["hosts", "hepler_cores"], 2, "there is no hepler_cores: do you mean helper_cores?"),
        (["hosts", "frame", "symbols"], 0, r"\[frame\]: symbols = 0"),
        (["hosts", "frame"], {}, r"\[frame\]: symbols is missing"),
        (["hosts", "engine", "head"], {"batch_us": 3}, r"\[head\]: byte_us is missing"),
        (["hosts", "engine", "wire"], {}, r"\[engine\]: there is no wire"),
    ],
)
def test_hosts_that_cannot_be_are_refused(path, value, sentence):
    with pytest.raises(tm.sweep.SweepError, match=sentence):
        tm.sweep.run(changed(path, value), workers=1)
