"""Hosts and links, simulated: what passes is what the scarcest of them lets pass."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemill as tm
from tidemill.batches import Line
from tidemill.host_simulation import Carrier, Hosts, Link, simulate
from tidemill.remote.cost import EngineCost, Work, forecast

FAST = Link(1e15)
FREE = Line(0.0, 0.0)
CARRIER = Carrier(symbols=32490, rest_us=300, slowest_us=60, decode_us=600, frame_bytes=64800, bbframe_bytes=4026)
ONE = Hosts(helpers=1, head_cores=1, helper_cores=1, link=FAST, sender=FREE, receiver=FREE, frames=4)


def rate(us):
    return pytest.approx(1e6 * CARRIER.symbols / us, rel=0.01)


@pytest.mark.parametrize(
    ("change", "us", "bound"),
    [
        ({}, 600, "helpers' cores"),
        ({"helpers": 3}, 300, "a head's one core"),
        ({"helpers": 30, "head_cores": 8}, 60, "what heads receive in order"),
        ({"helpers": 2, "head_cores": 8, "helper_cores": 4}, 75, "helpers' cores"),
        ({"helpers": 8, "link": Link(1e9)}, 64800 * 8 / 1e3, "links out of heads"),
        ({"helpers": 8, "sender": Line(400, 0.01)}, 300 + 648 + 100, "a head's one core"),
        ({"helpers": 8, "head_cores": 2, "sender": Line(400, 0.01)}, 648 + 100, "what heads send"),
        ({"receiver": Line(400, 0)}, 700, "helpers' cores"),
    ],
)
def test_the_scarcest_says_how_much_passes(change, us, bound):
    passed = simulate([CARRIER], dataclasses.replace(ONE, **change))
    assert passed.symbol_rate_hz == rate(us) and passed.bound == bound
    assert passed.shares[bound] > 0.95


def test_carriers_share_helpers_and_their_links():
    passed = simulate([CARRIER] * 4, dataclasses.replace(ONE, helpers=2))
    assert passed.symbol_rate_hz == rate(4 * 600 / 2) and passed.bound == "helpers' cores"
    passed = simulate([CARRIER] * 4, dataclasses.replace(ONE, helper_cores=64, link=Link(1e9)))
    assert passed.symbol_rate_hz == rate(4 * 64800 * 8 / 1e3) and passed.bound == "links into helpers"


def test_a_carrier_that_comes_slowly_waits_for_nothing_but_itself():
    slow = dataclasses.replace(CARRIER, symbol_rate_hz=10e6)
    passed = simulate([slow], dataclasses.replace(ONE, helpers=2, link=Link(1e9, delay_us=5000)))
    carry_us = 4 * 8e-3 * (64800 + 4026)
    assert passed.symbol_rate_hz == pytest.approx(10e6, rel=0.01)
    assert passed.latency_us == pytest.approx(4 * 3249 + 4 * 600 + carry_us + 2 * 5000, rel=0.01)


@given(
    rest_us=st.floats(10, 1000),
    decode_us=st.floats(10, 1000),
    helpers=st.integers(1, 6),
    frames=st.integers(1, 32),
    out=st.builds(Line, st.floats(0, 500), st.floats(0, 0.005)),
    back=st.builds(Line, st.floats(0, 500), st.floats(0, 0.005)),
)
def test_the_forecast_of_a_cut_is_what_the_simulation_comes_to(rest_us, decode_us, helpers, frames, out, back):
    """Where nothing waits for the wire."""
    carrier = dataclasses.replace(CARRIER, rest_us=rest_us, slowest_us=rest_us, decode_us=decode_us)
    hosts = Hosts(helpers, 1, 1, FAST, out, back, frames)
    cost = EngineCost("any", helpers, 0, out, back, FREE, FREE)
    expected = forecast(cost, Work(rest_us, decode_us, carrier.frame_bytes), frames)
    passed = simulate([carrier], hosts)
    assert 1e6 * carrier.symbols / passed.symbol_rate_hz == pytest.approx(expected.period_us, rel=0.05)


def test_the_same_question_has_the_same_answer():
    hosts = dataclasses.replace(ONE, helpers=5, link=Link(1e9, 20))
    assert simulate([CARRIER] * 3, hosts) == simulate([CARRIER] * 3, hosts)


def test_questions_without_sense_are_refused():
    for carriers, hosts, batches in (([], ONE, 200), ([CARRIER], dataclasses.replace(ONE, helpers=0), 200), ([CARRIER], ONE, 3)):
        with pytest.raises(tm.WrongUsage, match="one carrier and one helper at least"):
            simulate(carriers, hosts, batches)
