"""`python -m tidemill.demo`: sends, disturbs and receives a signal here, and draws how often frames err."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import dvbs2

_PACKETS = 4000
_ESN0_DB = 9.0
_CARRIER = 0.01  # cycles per sample


def random_packets(count: int, seed: int = 1) -> NDArray[np.uint8]:
    """Packets of a transport stream with random payload."""
    packets = np.random.default_rng(seed).integers(0, 256, (count, 188), dtype=np.uint8)
    packets[:, :2] = 0x47, 0x01
    return packets


def disturbed(samples: NDArray[np.complex64], esn0_db: float, seed: int = 2) -> NDArray[np.complex64]:
    """The samples with white noise, two to a symbol, and off their frequency."""
    rng = np.random.default_rng(seed)
    power = 10 ** (-esn0_db / 10)  # per symbol; two samples of power 1 have its energy
    noise = rng.normal(scale=np.sqrt(power), size=(len(samples), 2)).astype(np.float32).view(np.complex64).ravel()
    turned = samples * np.exp(2j * np.pi * _CARRIER * np.arange(len(samples)))
    return np.asarray(turned + noise, np.complex64)


def blocks(samples: NDArray[np.complex64], size: int = 50_000) -> Iterator[NDArray[np.complex64]]:
    """As a radio would give them."""
    for at in range(0, len(samples), size):
        yield samples[at : at + size]


def receive_what_is_sent() -> None:
    """Prints how it went."""
    sent = random_packets(_PACKETS)
    transmitter = dvbs2.Transmitter("8PSK 2/3", pilots=True)
    signal = disturbed(np.concatenate([transmitter.send(sent), transmitter.finish()]), _ESN0_DB)
    begin = time.perf_counter()
    receiver = dvbs2.Receiver(sample_rate_hz=2e6)
    received = np.concatenate(list(receiver.receive(blocks(signal))))
    elapsed = time.perf_counter() - begin
    known = {packet.tobytes() for packet in sent}
    good = sum(packet.tobytes() in known for packet in received)
    now = receiver.now
    print(f"received {now.modcod}, Es/N0 {now.esn0_db:.1f} dB, {now.frames} frames, {now.frames_bad} of them bad")
    print(f"{good} of the {_PACKETS} packets that were sent came out, in {elapsed:.2f} s")


def draw_error_rates(path: str) -> None:
    """A waterfall of a short code, beside what others measured."""
    curve = dvbs2.ber("QPSK 8/9", frame="short", ebn0=np.arange(3.4, 4.05, 0.1), errors=30, frames=2000)
    curve.plot(compare=["StreamPU", "capacity"]).savefig(path)
    print(f"frame error rates of QPSK 8/9 are drawn in {path}")


def main() -> None:
    """What the module is called with."""
    arguments = argparse.ArgumentParser(prog="python -m tidemill.demo", description=__doc__)
    arguments.add_argument("--figure", default="fer.pdf", help="where the figure goes (PDF, PNG or SVG)")
    asked = arguments.parse_args()
    receive_what_is_sent()
    try:
        draw_error_rates(asked.figure)
    except ImportError as missing:
        print(f"no figure: {missing}")


if __name__ == "__main__":
    main()
