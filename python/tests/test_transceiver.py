"""Samples pushed in, packets out; packets in, samples out."""

import subprocess
import sys

import numpy as np
import pytest

import tidemill as tm
from tidemill.demo import blocks, disturbed, random_packets


def signal(packets, modcod="QPSK 8/9", **words):
    transmitter = tm.dvbs2.Transmitter(modcod, frame="short", **words)
    return np.concatenate([transmitter.send(packets), transmitter.finish()])


@pytest.fixture(scope="module")
def sent():
    return random_packets(600)


@pytest.fixture(scope="module")
def heard(sent):
    return disturbed(signal(sent, pilots=True), 10)


def is_end_of(received, sent):
    return 500 < len(received) <= len(sent) and (received == sent[-len(received) :]).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_sent_is_received(sent, heard, threads):
    receiver = tm.dvbs2.Receiver(sample_rate_hz=2e6, threads=threads)
    received = np.concatenate(list(receiver.receive(blocks(heard, 7777))))
    assert is_end_of(received, sent)
    report = receiver.finish()
    assert report.frames_bad == 0
    assert report.modcod == "QPSK 8/9"
    assert report.packets == len(received)
    assert report.samples == len(heard)
    assert report.esn0_db == pytest.approx(10, abs=0.3)
    assert report.frequency_hz == pytest.approx(20000, abs=200)


def test_who_takes_no_more_is_fed_no_more(heard):
    given = 0

    def endless():
        nonlocal given
        while True:
            given += 1
            yield heard

    receiver = tm.dvbs2.Receiver(waiting_packets=10)
    for packets in receiver.receive(endless()):
        assert packets.shape[1] == 188
        break
    assert given < 20


def test_what_the_blocks_raise_comes_out(heard):
    def broken():
        yield heard
        raise OSError("the radio was unplugged")

    with pytest.raises(OSError, match="unplugged"):
        list(tm.dvbs2.Receiver().receive(broken()))


def test_by_hand_packets_are_taken_while_it_runs(sent, heard):
    receiver = tm.dvbs2.Receiver()
    receiver.push(heard)
    receiver.end()
    received = []
    while len(packets := receiver.take(3)):
        assert len(packets) <= 3
        received.append(packets)
    assert is_end_of(np.concatenate(received), sent)
    assert receiver.now.locked in (True, False)


def test_what_cannot_be_is_told(heard):
    with pytest.raises(tm.WrongUsage, match="give 1 or more"):
        tm.dvbs2.Receiver(threads=0)
    with pytest.raises(tm.Dvbs2Error, match="gold code"):
        tm.dvbs2.Receiver(gold_code=-1)
    receiver = tm.dvbs2.Receiver()
    receiver.end()
    with pytest.raises(tm.Dvbs2Error, match="no more come"):
        receiver.push(heard)
    transmitter = tm.dvbs2.Transmitter()
    with pytest.raises(tm.WrongUsage, match="whole packets of 188"):
        transmitter.send(np.zeros(187, np.uint8))
    with pytest.raises(tm.WrongUsage, match="begin with 0x47"):
        transmitter.send(np.zeros(188, np.uint8))
    with pytest.raises(tm.WrongUsage, match="normal or short"):
        tm.dvbs2.Transmitter(frame="long")
    with pytest.raises(tm.WrongUsage):
        tm.dvbs2.Transmitter("QAM 3/4")


def test_the_demo_receives_what_it_sends(tmp_path):
    figure = tmp_path / "fer.png"
    told = subprocess.run([sys.executable, "-m", "tidemill.demo", "--figure", str(figure)], check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    assert "received 8PSK 2/3" in told
    assert "0 of them bad" in told
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["fig6", "fig13", "table4.2"])
def test_a_published_figure_is_made_again_and_drawn(name):
    made = tm.reproduce(name, chains=10, timed=1, frames=100, tasks=100)
    assert made.summary == tm.reproductions()[name]
    for number, table in enumerate(made.tables):
        assert len(table) > 0
        figure = made.plot(number)
        assert figure.note.seed == 1
        assert list(figure.data) == list(table.data)
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_what_is_not_reproduced_is_told():
    with pytest.raises(tm.WrongUsage, match="not among what we reproduce"):
        tm.reproduce("fig99")
