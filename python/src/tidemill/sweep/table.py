"""Rows as aligned columns, for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


def to_text(rows: Iterable[Mapping[str, Any]], leave_out: Iterable[str] = ()) -> str:
    """Columns in the order of the first row; text to the left, numbers to the right."""
    listed = list(rows)
    names = [name for name in (listed[0] if listed else {}) if name not in set(leave_out)]
    columns = [[name, *(_shown(row.get(name)) for row in listed)] for name in names]
    widths = [max(map(len, column)) for column in columns]
    left = [any(isinstance(row.get(name), str) for row in listed) for name in names]
    lines = []
    for line in zip(*columns, strict=True):
        cells = [cell.ljust(w) if to_left else cell.rjust(w) for cell, w, to_left in zip(line, widths, left, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n" if lines else ""


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def printable(text: str) -> str:
    """One line that does nothing to a terminal, whoever chose the names in it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
