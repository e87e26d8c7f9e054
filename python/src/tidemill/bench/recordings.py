"""Recordings that benchmarks receive: made here, so that they need no file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .. import dvbs2
from ..demo import disturbed, random_packets

SAMPLE_RATE_HZ = 1e6
_LOUDEST = 30.0
"""Of int8, where the mean power is 1."""


def put_recording(path: Path, modcod: str, packets: int, esn0_db: float, seed: int = 1) -> None:
    """Writes a SigMF recording of random packets in noise, in 8 bits."""
    transmitter = dvbs2.Transmitter(modcod, pilots=True)
    signal = np.concatenate([transmitter.send(random_packets(packets, seed)), transmitter.finish()])
    noisy = disturbed(signal, esn0_db, seed + 1).view(np.float32)
    noisy *= _LOUDEST / np.sqrt(1 + 10 ** (-esn0_db / 10))
    np.clip(np.rint(noisy), -127, 127).astype(np.int8).tofile(path.with_suffix(".sigmf-data"))
    described = {
        "global": {"core:datatype": "ci8", "core:sample_rate": SAMPLE_RATE_HZ, "core:version": "1.2.0"},
        "captures": [{"core:sample_start": 0}],
        "annotations": [],
    }
    path.with_suffix(".sigmf-meta").write_text(json.dumps(described), encoding="utf-8")
