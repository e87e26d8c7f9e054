"""Any program that is run once for each number: soak seeds, policies over programs, whatever prints counts."""

from __future__ import annotations

import itertools
import json
import string
import subprocess
from collections.abc import Mapping
from typing import Any

from .. import _core
from .kinds import Count, Counts, Point, Range, add
from .settings import Table

_LIMIT_BYTES = 1 << 20
_OURS = ("number", "seed")


class Program:
    """Runs `command`, in which {number} and {seed} and the names in [program.values] stand for values.

    What fails (another exit status than 0, or no end within `timeout_s`) is counted. Of what the program prints as one
    JSON object, the numbers that `adds` names are rounded to whole ones, and added up.
    """

    name = "program"
    numbers = "runs"
    events: str | None = "failed"

    def points(self, table: Table) -> list[dict[str, Any]]:
        command = table.words("command")
        adds = table.words("adds")
        timeout_s = table.number("timeout_s", 600, 0.001, 1e6)
        values = table.take("values", {})
        if not isinstance(values, Mapping) or not all(_is_list(each) for each in values.values()):
            table.refuse("values", "give lists of texts and numbers by the names that command has in braces")
        names = _names_in(table, command) - set(_OURS)
        if not command or names != set(values):
            table.refuse("command", f"its names in braces are {sorted(names)}, those of values {sorted(values)}")
        common = {"command": command, "adds": adds, "timeout_s": timeout_s}
        choices = itertools.product(*([(name, each) for each in values[name]] for name in values))
        return [{**common, "values": dict(choice)} for choice in choices]

    def step(self, point: Point) -> int:
        return 1

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        counts: Counts = {}
        for number in range(range_.first, range_.first + range_.length):
            add(counts, _run(point, {**point["values"], "number": number, "seed": seed + number}))
            if range_.limit is not None and counts["failed"] >= range_.limit:
                break
        return Count(counts, {})

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        return {**point["values"], "runs": 0, "failed": 0, **counts}


def _is_list(given: Any) -> bool:
    return isinstance(given, list) and given != [] and all(type(each) in (str, int, float) for each in given)


def _names_in(table: Table, command: list[str]) -> set[str]:
    try:
        found = [name for word in command for _, name, _, _ in string.Formatter().parse(word)]
    except ValueError:
        table.refuse("command", "a brace is not closed: write {{ for a brace itself")
    return {name for name in found if name is not None}


def _run(point: Point, values: Mapping[str, Any]) -> Counts:
    words = [word.format(**values) for word in point["command"]]
    try:
        ended = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=point["timeout_s"],
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"runs": 1, "failed": 1}
    except OSError as error:
        raise _core.JobFailed(f"{words[0]} cannot be run: {error.strerror}") from None
    if ended.returncode != 0:
        return {"runs": 1, "failed": 1}
    return {"runs": 1, "failed": 0, **_added(point, words, ended.stdout)}


def _added(point: Point, words: list[str], output: bytes) -> Counts:
    if not point["adds"]:
        return {}
    try:
        said = json.loads(output[:_LIMIT_BYTES])
        return {name: _whole(said[name]) for name in point["adds"]}
    except (ValueError, KeyError, TypeError, OverflowError):
        names = ", ".join(point["adds"])
        raise _core.JobFailed(f"{' '.join(words)} does not print one JSON object with numbers for {names}") from None


def _whole(value: Any) -> int:
    if type(value) not in (int, float) or not abs(value) < 2**62:
        raise ValueError
    return int(round(value))
