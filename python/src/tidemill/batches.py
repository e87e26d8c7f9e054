"""Frames travel in batches: what one costs, and how many are on their way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sweep.settings import Table

IN_FLIGHT = 4
"""Batches that each helper has at most: one that it decodes, and others, since near the threshold some take twice as long."""


@dataclass(frozen=True)
class Line:
    """Microseconds of a batch: so many whatever is in it, and so many for each byte of soft bits."""

    batch_us: float
    byte_us: float

    def of(self, size: int) -> float:
        return self.batch_us + self.byte_us * size


def line_of(table: Table) -> Line:
    """Of a file's table. Throws SweepError for what is missing, or cannot be."""
    line = Line(table.number("batch_us", -1, 0, 1e9), table.number("byte_us", -1, 0, 1e6))
    table.nothing_else()
    return line
