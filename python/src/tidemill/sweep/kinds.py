"""What can be counted: each kind makes points of a file's settings, and counts ranges of numbers at a point.

Counts are integers, so that it does not matter who counted what, nor where a point was cut into ranges: fields are
added, those called `..._most` are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .settings import Table

Point = Mapping[str, Any]
Counts = dict[str, int]


@dataclass(frozen=True)
class Range:
    """Numbers `first` to `first + length` of a point, of which counting may stop at `limit` events."""

    first: int
    length: int
    limit: int | None


@dataclass(frozen=True)
class Count:
    """What a range came to. `said` is what rows say besides counts: the same for every range of a point."""

    counts: Counts
    said: dict[str, Any]


class Kind(Protocol):
    """One of those in registry.py."""

    name: str
    numbers: str
    """The count that tells how many numbers were counted: "frames"."""
    events: str | None
    """The count that may end a point when there are enough: "frames_wrong"."""

    def points(self, table: Table) -> list[dict[str, Any]]:
        """All points that a file's table asks for, as JSON has them."""

    def step(self, point: Point) -> int:
        """Ranges begin and end at multiples of this."""

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        """Depends on its arguments alone."""

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        """What a table says of a point."""


def add(total: Counts, more: Mapping[str, int]) -> None:
    """Adds up counts, which may be none yet."""
    for name, value in more.items():
        before = total.get(name, 0)
        total[name] = max(before, value) if name.endswith("_most") else before + value
