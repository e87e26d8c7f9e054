"""Samples of recordings, as arrays."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import _core, _given

if TYPE_CHECKING:
    from .figures import Figure


@dataclass(frozen=True, repr=False)
class Samples:
    """A part of a recording."""

    array: NDArray[np.complex64]
    """Of full scale 1."""
    sample_rate_hz: float | None
    center_frequency_hz: float | None
    recorded: int
    """Samples that the whole recording has."""
    call: str = field(repr=False)

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return f"<{len(self)} of {self.recorded} samples, {self.sample_rate_hz} Hz>"

    def plot(self, bins: int = 1024) -> Figure:
        """The spectrum."""
        from .figures import spectrum

        return spectrum(self.array, sample_rate_hz=self.sample_rate_hz, bins=bins, call=self.call)


def read_samples(
    recording: str | os.PathLike[str],
    *,
    first: int = 0,
    count: int = 1 << 20,
    format: str | None = None,
    sample_rate_hz: float | None = None,
) -> Samples:
    """Reads a part of a recording: SigMF, WAV, SDRangel's .sdriq, or raw samples.

    first, count: of the samples; fewer come where the recording ends before.
    format, sample_rate_hz: of raw samples, where names and metadata do not tell.
    Throws IoError for what cannot be read.
    """
    name = _given.path("recording", recording)
    array, rate_hz, center_hz, recorded = _core.read_samples(
        name,
        format=None if format is None else _given.text("format", format),
        sample_rate_hz=None if sample_rate_hz is None else _given.number("sample_rate_hz", sample_rate_hz, 0),
        first=_given.whole("first", first),
        count=_given.whole("count", count),
    )
    call = f"tidemill.read_samples({os.path.basename(name)!r}, first={first}, count={count})"
    return Samples(array, rate_hz, center_hz, recorded, call)
