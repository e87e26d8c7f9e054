"""What a worker does: counts one range, and says who it is."""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core, dvbs2
from .kinds import Counts, Range
from .registry import KINDS


@dataclass(frozen=True)
class Order:
    """One range of one point, for a worker of this build and instruction set."""

    count: str
    point: Mapping[str, Any]
    seed: int
    target: str
    range_: Range
    build: str


@dataclass(frozen=True)
class Answer:
    """`refused`: why this worker may not count."""

    counts: Counts
    said: dict[str, Any]
    host: str
    seconds: float
    cpu_seconds: float
    refused: str = ""


@functools.cache
def build_here() -> str:
    """Version, and which build of it: the same only for the same bytes."""
    with open(_core.__file__, "rb") as file:
        return f"{_core.version}+{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"


def _why_not(order: Order) -> str:
    sets = dvbs2.instruction_sets()
    if build_here() != order.build:
        return f"it has build {build_here()}, this sweep {order.build}: install the same on all"
    if order.target and order.target not in sets:
        return f"it has no {order.target}, but {', '.join(sets)}: give target = one that all workers have"
    return ""


def count_range(order: Order) -> Answer:
    """Throws what the counting throws."""
    refused = _why_not(order)
    if refused:
        return Answer({}, {}, socket.gethostname(), 0, 0, refused)
    began, cpu_began = time.monotonic(), _cpu_seconds()
    found = KINDS[order.count].count(order.point, order.seed, order.target, order.range_)
    seconds, cpu_seconds = time.monotonic() - began, _cpu_seconds() - cpu_began
    return Answer(found.counts, found.said, socket.gethostname(), seconds, cpu_seconds)


def instruction_sets_here(_: int) -> list[str]:
    """Asked of workers before a sweep begins."""
    return dvbs2.instruction_sets()


# Its own, and that of the programs it has run.
def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
