"""A long recording in segments: where they are cut, and how what they heard becomes one stream again.

Segments overlap by what a lock takes, so each hears frames that its neighbour heard, too. Each frame is taken from
exactly one of them, by the sample at which it starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

_LONGEST_FRAME = 33282
"""Symbols: QPSK, normal, with pilots (EN 302 307-1, 5.5)."""
_BEFORE_FRAMES = 16
_BEHIND_FRAMES = 3


@dataclass(frozen=True)
class Setting:
    """What one search has found of a recording, and all its segments are told."""

    samples: int
    sample_rate_hz: float
    symbol_rate_hz: float
    rolloff: float
    gold_code: int
    offset_hz: float | None

    @property
    def samples_per_symbol(self) -> float:
        return self.sample_rate_hz / self.symbol_rate_hz


@dataclass(frozen=True)
class Segment:
    """Answers for frames that start in [begin, end); hears samples [first, first + count)."""

    begin: int
    end: int
    first: int
    count: int


@dataclass(frozen=True)
class Frames:
    """What a segment heard, a row for each frame; positions are samples of the recording."""

    position: NDArray[np.float64]
    samples: NDArray[np.float64]
    pls_code: NDArray[np.uint8]
    good: NDArray[np.bool_]
    gap: NDArray[np.bool_]
    bbframes: list[bytes]
    """Of a bad one, nothing."""

    def __len__(self) -> int:
        return len(self.position)


def cut(setting: Setting, segment_s: float, before_frames: int = _BEFORE_FRAMES) -> list[Segment]:
    """Segments of equal length, each at most about `segment_s` long; the last ones of none."""
    count = max(math.ceil(setting.samples / setting.sample_rate_hz / segment_s), 1)
    longest = _LONGEST_FRAME * setting.samples_per_symbol
    edges = [setting.samples * k // count for k in range(count + 1)]
    segments = []
    for begin, end in zip(edges, edges[1:], strict=False):
        first = max(begin - int(before_frames * longest), 0)
        last = min(end + int(_BEHIND_FRAMES * longest), setting.samples)
        segments.append(Segment(begin, end, first, last - first))
    return segments


def frames_of(setting: Setting, first: int, ppm: float, arrays: dict[str, Any]) -> Frames:
    """What _core.receive_part() tells, at the recording's positions."""
    per_symbol = setting.samples_per_symbol / (1 + ppm * 1e-6)
    ends = np.cumsum(arrays["bbframe_bytes"], dtype=np.int64)
    content = arrays["bbframes"].tobytes()
    bbframes = [content[end - size : end] for end, size in zip(ends, arrays["bbframe_bytes"].astype(np.int64), strict=True)]
    return Frames(
        first + arrays["start"] * per_symbol,
        arrays["symbols"] * per_symbol,
        arrays["pls_code"],
        arrays["good"],
        arrays["gap"],
        bbframes,
    )


def is_unbroken(report: dict[str, Any]) -> bool:
    """Whether the signal was there from the first sample to the last: else symbols do not tell positions."""
    losses = report["losses"]
    quiet = losses["blocks_without_signal"] + losses["blocks_without_clock"]
    return bool(quiet == 0 and losses["locks"] == 1)


@dataclass
class Joined:
    """What a recording came to."""

    packets: bytes
    frames: int = 0
    frames_bad: int = 0
    gaps: int = 0
    decided_otherwise: list[int] = field(default_factory=list)
    """Samples at which frames start that one of two segments could decode and the other one could not."""
    open_seams: int = 0
    """Cuts behind which a segment's first frame was not the next one: its lock came too late."""
    frames_of_pls: dict[int, int] = field(default_factory=dict)


def join(segments: Iterable[tuple[Segment, Frames]]) -> Joined:
    """In order, each frame once; what lies across a cut is whole."""
    sorter = _core.PacketSorter()
    joined = Joined(b"")
    last: tuple[float, float] | None = None
    heard = list(segments)
    for n, (segment, frames) in enumerate(heard):
        neighbours = [heard[m][1] for m in (n - 1, n + 1) if 0 <= m < len(heard)]
        taken = _rows_of(segment, frames, last)
        for k in taken:
            gap = bool(frames.gap[k])
            if k == taken[0] and last is not None and not _knows_both(last, frames, k):
                gap = _are_apart(last, frames, k)
                joined.open_seams += int(gap)
            _push(sorter, joined, *_good_one(frames, k, neighbours), gap)
        if taken:
            last = float(frames.position[taken[-1]]), float(frames.samples[taken[-1]])
        if n > 0:
            joined.decided_otherwise += _decided_otherwise(heard[n - 1][1], frames)
    sorter.finish()
    joined.packets = sorter.take()
    return joined


# Those that start in the segment. Where a frame starts, its two segments may know but to a part of a symbol: so the first
# one is what starts behind the middle of the last one taken.
def _rows_of(segment: Segment, frames: Frames, last: tuple[float, float] | None) -> list[int]:
    rows = [k for k in range(len(frames)) if frames.position[k] < segment.end]
    if last is None:
        return rows
    return [k for k in rows if frames.position[k] > last[0] + last[1] / 2]


# Whether a segment has heard the last frame taken and the one behind it: then it knows what lies between them.
def _knows_both(last: tuple[float, float], frames: Frames, k: int) -> bool:
    return k > 0 and abs(float(frames.position[k - 1]) - last[0]) < last[1] / 2


def _are_apart(last: tuple[float, float], frames: Frames, k: int) -> bool:
    return abs(float(frames.position[k]) - last[0] - last[1]) > last[1] / 4


# A frame that its segment could not decode, and a neighbour could, is the neighbour's.
def _good_one(frames: Frames, k: int, neighbours: list[Frames]) -> tuple[Frames, int]:
    if not frames.good[k]:
        for other in neighbours:
            twin = _twin_of(frames, k, other)
            if twin is not None and other.good[twin] and other.pls_code[twin] == frames.pls_code[k]:
                return other, twin
    return frames, k


# The row of the same frame in another segment.
def _twin_of(frames: Frames, k: int, other: Frames) -> int | None:
    near = np.flatnonzero(np.abs(other.position - frames.position[k]) < frames.samples[k] / 2)
    return int(near[0]) if len(near) == 1 else None


def _push(sorter: _core.PacketSorter, joined: Joined, frames: Frames, k: int, gap: bool) -> None:
    joined.frames += 1
    code = int(frames.pls_code[k])
    joined.frames_of_pls[code] = joined.frames_of_pls.get(code, 0) + 1
    if gap:
        joined.gaps += int(joined.frames > 1)
        sorter.lose()
    if frames.good[k]:
        sorter.push(frames.bbframes[k])
    else:
        joined.frames_bad += 1
        sorter.lose()


def _decided_otherwise(before: Frames, behind: Frames) -> list[int]:
    found = []
    # A receiver that has just locked may not know the noise yet, and the last frame may be cut off: only what both have
    # settled on counts.
    for k in range(_BEFORE_FRAMES // 2, len(behind)):
        twin = _twin_of(behind, k, before)
        if twin is not None and twin < len(before) - 1 and before.good[twin] != behind.good[k]:
            found.append(round(behind.position[k]))
    return found
