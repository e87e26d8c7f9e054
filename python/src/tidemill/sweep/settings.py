"""Reading a table of settings, so that nothing in it goes unread."""

from __future__ import annotations

import difflib
import itertools
import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core


_MOST_POINTS = 100_000


class SweepError(_core.Error):
    """A sweep file or a state that cannot be used: what, where, what to do."""


def read_json(path: str | os.PathLike[str], most_bytes: int, missing: str) -> Any:
    """What a file of JSON holds; None where that is none, or more. Throws SweepError, with what is `missing`, where it cannot
    be read."""
    try:
        with open(path, "rb") as file:
            text = file.read(most_bytes + 1)
        return json.loads(text) if len(text) <= most_bytes else None
    except OSError as error:
        raise SweepError(f"{os.fspath(path)}: {error.strerror}: {missing}") from None
    except (ValueError, RecursionError):
        return None


class Table:
    """A table of a sweep file, from which each entry is taken by name."""

    def __init__(self, where: str, entries: Mapping[str, Any]) -> None:
        self.where = where
        self._entries = entries
        self._known: list[str] = []

    def has(self, name: str) -> bool:
        self._known.append(name)
        return name in self._entries

    def take(self, name: str, default: Any = None) -> Any:
        return self._entries[name] if self.has(name) else default

    def table(self, name: str) -> Table:
        value = self.take(name, {})
        if not isinstance(value, Mapping):
            self.refuse(name, "give a table")
        return Table(f"{self.where}: [{name}]", value)

    def whole(self, name: str, default: int, least: int = 1, most: int = 10**15) -> int:
        value = self.take(name, default)
        if type(value) is not int or not least <= value <= most:
            self.refuse(name, f"give a whole number from {least} to {most}")
        return int(value)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self.take(name, default)
        if type(value) not in (int, float) or not least <= value <= most:
            self.refuse(name, f"give a number from {least:g} to {most:g}")
        return float(value)

    def numbers(self, name: str) -> list[float]:
        """One, a list of them, or text like "0:0.5:3"."""
        value = self.take(name, [])
        if isinstance(value, str):
            try:
                return _core.number_list(value, f"{self.where}: {name}")
            except _core.WrongUsage as error:
                raise SweepError(str(error)) from None
        values = value if isinstance(value, list) else [value]
        if any(type(each) not in (int, float) or not abs(each) < 1e6 for each in values):
            self.refuse(name, 'give numbers, or a range like "0:0.5:3"')
        return [float(each) for each in values]

    def flag(self, name: str) -> bool:
        value = self.take(name, False)
        if type(value) is not bool:
            self.refuse(name, "give true or false")
        return bool(value)

    def word(self, name: str, default: str, words: list[str] | None = None) -> str:
        value = self.take(name, default)
        if not isinstance(value, str) or (words is not None and value not in words):
            self.refuse(name, "give " + (" or ".join(words) if words else "a text"))
        return str(value)

    def words(self, name: str) -> list[str]:
        """One text, or a list of them."""
        value = self.take(name, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in values):
            self.refuse(name, "give a text, or a list of them")
        return values

    def refuse(self, name: str, what: str) -> None:
        """Throws SweepError for an entry."""
        there = f"{name} = {_short(repr(self._entries[name]))}" if name in self._entries else f"{name} is missing"
        raise SweepError(f"{self.where}: {there}: {what}")

    def nothing_else(self) -> None:
        """Throws SweepError for an entry that nobody asked for, with the nearest one that there is."""
        for name in self._entries:
            if name in self._known:
                continue
            near = difflib.get_close_matches(name, self._known, n=1, cutoff=0.5)
            there = f"do you mean {near[0]}?" if near else "there are " + ", ".join(sorted(set(self._known)))
            raise SweepError(f"{self.where}: there is no {_short(name)}: {there}")


def combined(table: Table, *axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every combination, the last axis the fastest. Throws SweepError before there are more than a sweep may have."""
    count = math.prod(map(len, axes))
    if not 1 <= count <= _MOST_POINTS:
        raise SweepError(f"{table.where}: it asks for {count} points: give 1 to {_MOST_POINTS}")
    return list(itertools.product(*axes))


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
