"""A stream's first frames, decoded here, tell what decoding them elsewhere would save."""

from __future__ import annotations

import time

from .cost import Choice, EngineCost, Work, choose
from .work import Batch, Decoded, decoded

_FRAMES = 24


class Rehearsal:
    """Measures processor time, which others on this machine do not change much, of all but the first batch."""

    def __init__(self, cost: EngineCost, latency_us: float | None) -> None:
        self._cost = cost
        self._latency_us = latency_us
        self._frames = 0
        self._bytes = 0
        self._rest_s = 0.0
        self._decode_s = 0.0
        self._left_at: float | None = None

    @property
    def is_done(self) -> bool:
        return self._frames >= _FRAMES

    def decode(self, batch: Batch) -> Decoded:
        """Is called between the receiver's work on one batch and on the next."""
        began = time.process_time()
        answer = decoded(batch)
        ended = time.process_time()
        if self._left_at is not None:  # what is made once is made with the first
            self._frames += len(batch)
            self._bytes += batch.llrs.nbytes
            self._rest_s += began - self._left_at
            self._decode_s += ended - began
        self._left_at = time.process_time()
        return answer

    def work(self) -> Work:
        """Of a frame, once it is done."""
        each = 1e6 / self._frames
        return Work(self._rest_s * each, self._decode_s * each, round(self._bytes / self._frames))

    def choice(self) -> Choice:
        """What follows, once it is done."""
        return choose(self._cost, self.work(), self._latency_us)
