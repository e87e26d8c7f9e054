#!/usr/bin/env python3
"""Draws the pictures of the documents with the package: build/venv/bin/python tools/pictures.py"""

import csv
from pathlib import Path

import numpy as np

import tidemill as tm
from tidemill import figures
from tidemill.demo import random_packets

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# Names of columns in fer.csv, and a curve.
COLUMNS = {"MODCOD": "modcod", "Es/N0 dB": "esn0_db", "Eb/N0 dB": "ebn0_db", "frames": "frames", "wrong": "frames_wrong",
           "FER": "frame_error_rate", "95 % from": "frame_error_rate_low", "to": "frame_error_rate_high"}  # fmt: skip


def sent(modcod: str = "QPSK 8/9", packets: int = 600, **settings: object) -> np.ndarray:
    transmitter = tm.dvbs2.Transmitter(modcod, **settings)
    return np.concatenate([transmitter.send(random_packets(packets)), transmitter.finish()])


def spectrum() -> figures.Figure:
    """Three roll-offs at eight samples a symbol, over the symbol rate."""
    signals = {
        f"roll-off {rolloff:.2f}": sent(frame="short", pilots=True, rolloff=rolloff, samples_per_symbol=8)
        for rolloff in (0.35, 0.25, 0.20)
    }
    drawn = figures.spectrum(signals, sample_rate_hz=8, call="tidemill.figures.spectrum(signals, sample_rate_hz=8)")
    drawn.axes.set(xlim=(-1.5, 1.5), ylim=(-85, 5), xlabel="frequency over the symbol rate")
    return drawn


def constellations() -> figures.Figure:
    """Each 2 dB over its threshold of table 13; headers are among the symbols."""
    rng = np.random.default_rng(1)

    def noisy(modcod: str, esn0_db: float) -> np.ndarray:
        symbols = sent(modcod, packets=2500, samples_per_symbol=1)
        scale = np.sqrt(np.mean(np.abs(symbols) ** 2) * 10 ** (-esn0_db / 10) / 2)
        return symbols + rng.normal(scale=scale, size=(len(symbols), 2)).view(np.complex128).ravel()

    points = {"QPSK 8/9": 8.2, "8PSK 8/9": 12.7, "16APSK 8/9": 14.9, "32APSK 8/9": 17.7}
    return figures.constellations({name: noisy(name, esn0_db) for name, esn0_db in points.items()})


def error_rates() -> figures.Figure:
    """What was counted into fer.csv."""
    with (DOCS / "measured/dvbs2/fer.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    data = {name: np.array([row[theirs] if theirs == "MODCOD" else float(row[theirs]) for row in rows])
            for theirs, name in COLUMNS.items()}  # fmt: skip
    counted = "tidemill dvbs2 ber --frame short --frames 20000 --errors 60"
    return tm.dvbs2.Curve(data, [], "short", counted, 1).plot(compare=["StreamPU"])


def main() -> None:
    spectrum().savefig(DOCS / "measured/dvbs2/spectrum.svg")
    constellations().savefig(DOCS / "measured/dvbs2/constellations.png", dpi=120)
    error_rates().savefig(DOCS / "measured/dvbs2/fer.svg")
    report = tm.dvbs2.receive(ROOT / "data/demo.sigmf-meta", constellation=True)
    report.plot.constellation().savefig(DOCS / "guides/python/constellation.png", dpi=150)
    profile = tm.Profile.read(ROOT / "data/profiles/dvbs2-rx-opi5.json")
    tm.front(profile, watts={"big": 1.0, "little": 0.25}).plot().savefig(DOCS / "guides/python/front.png", dpi=150)


if __name__ == "__main__":
    main()
