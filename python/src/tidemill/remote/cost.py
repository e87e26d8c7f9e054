"""What an engine costs per batch and per byte, what a cut behind the demapper comes to with it, and whether it is worth it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..batches import IN_FLIGHT, Line, line_of
from ..sweep.settings import SweepError, Table, read_json

_FORMAT = 1
_MOST_BYTES = 1 << 20
_LINES = ("head", "helper", "carry", "latency")
_MOST_BYTES_A_BATCH = 1 << 22
_AS_GOOD = 1.03
"""Of batches whose periods differ by less, the smaller one comes sooner."""


@dataclass(frozen=True)
class EngineCost:
    """An engine with so many helpers. Measured by calibrate.measure(), kept in a file by `tidemill calibrate --engine`."""

    engine: str
    workers: int
    cores: int
    """That head and helpers share; 0: helpers have cores of their own."""
    head: Line
    """Of the processor of the one who sends: a batch out, and its frames back; with the engine's own where it shares that."""
    helper: Line
    """Of the processor of the one who decodes, without the decoding."""
    carry: Line
    """From batch to batch, where nobody has anything else to do: what the wire lets through."""
    latency: Line
    """From a batch's leaving to its being back, where nobody decodes anything."""

    def to_json(self) -> str:
        return json.dumps({"engine_cost": _FORMAT, "version": _core.version, **dataclasses.asdict(self)}, indent=2) + "\n"


def read_cost(path: str | os.PathLike[str]) -> EngineCost:
    """Of a file that `tidemill calibrate --engine` wrote. Throws SweepError naming file and entry."""
    body = read_json(path, _MOST_BYTES, "tidemill calibrate --engine writes one")
    if not isinstance(body, Mapping) or body.get("engine_cost") != _FORMAT:
        raise SweepError(f"{os.fspath(path)}: it is no engine's model: tidemill calibrate --engine writes one")
    return _cost_of(Table(os.fspath(path), body))


def _cost_of(table: Table) -> EngineCost:
    table.take("engine_cost")
    if table.word("version", "") != _core.version:
        table.refuse("version", f"this is {_core.version}, which may cost something else: calibrate again")
    lines = {name: line_of(table.table(name)) for name in _LINES}
    cost = EngineCost(table.word("engine", ""), table.whole("workers", 1, 1, 4096), table.whole("cores", 0, 0, 4096), **lines)
    table.nothing_else()
    return cost


@dataclass(frozen=True)
class Work:
    """What a frame takes on one core: all but its decoding, and that; and how large its soft bits are."""

    rest_us: float
    decode_us: float
    frame_bytes: int

    @property
    def here_us(self) -> float:
        """From frame to frame where it is decoded here."""
        return self.rest_us + self.decode_us


@dataclass(frozen=True)
class Cut:
    """A forecast. `bound`: what lets frames pass no faster."""

    frames: int
    """Of a batch."""
    bytes: int
    """Of their soft bits."""
    period_us: float
    """From frame to frame."""
    latency_us: float
    """From a batch's first frame to its packets."""
    bound: str


def forecast(cost: EngineCost, work: Work, frames: int) -> Cut:
    """What decoding elsewhere comes to in batches of so many frames."""
    size, n = frames * work.frame_bytes, cost.workers
    head = work.rest_us * frames + cost.head.of(size)
    helper = work.decode_us * frames + cost.helper.of(size)
    decoding = work.decode_us * frames
    back_us = cost.latency.of(size) + decoding
    bounds = {
        "the head": head,
        "its helpers": helper / n,
        "what the engine carries": cost.carry.of(size),
        f"{IN_FLIGHT} batches with each helper": back_us / (IN_FLIGHT * n),
    }
    if cost.cores:
        bounds["the cores of head and helpers"] = (head + helper) / cost.cores
    bound = max(bounds, key=bounds.__getitem__)
    gathering = bounds[bound]
    return Cut(frames, size, bounds[bound] / frames, gathering + (IN_FLIGHT - 1) * decoding + back_us, bound)


@dataclass(frozen=True)
class Choice:
    """`cut`: the best one; None: decode stays here. `why`: in one sentence, with numbers."""

    cut: Cut | None
    why: str


def choose(cost: EngineCost, work: Work, latency_us: float | None = None) -> Choice:
    """The batch with the shortest period among those that are back in time; no cut where it would save nothing."""
    name = f"{cost.engine}:{cost.workers}"
    sizes = sorted({*range(1, 17), *(1 << k for k in range(11)), *(3 << k for k in range(9))})
    cuts = [forecast(cost, work, frames) for frames in sizes if frames == 1 or frames * work.frame_bytes <= _MOST_BYTES_A_BATCH]
    in_time = [cut for cut in cuts if latency_us is None or cut.latency_us <= latency_us]
    if not in_time:
        soonest = min(cuts, key=lambda cut: cut.latency_us)
        wanted, least = (latency_us or 0) / 1e3, soonest.latency_us / 1e3
        return Choice(None, f"decode stays here: {name} has no batch back in {wanted:.1f} ms, the soonest in {least:.1f} ms")
    shortest = min(cut.period_us for cut in in_time)
    best = next(cut for cut in in_time if cut.period_us <= _AS_GOOD * shortest)
    batch = f"in batches of {best.frames} a frame takes {best.period_us:.0f} us, bound by {best.bound}"
    if best.period_us >= work.here_us:
        why = f"decode stays here, where a frame takes {work.here_us:.0f} us: with {name} {batch}"
        return Choice(None, f"{why}, {best.period_us - work.here_us:.0f} us more")
    return Choice(best, f"decode goes to {name}: {batch}, decoded here {work.here_us:.0f} us")
