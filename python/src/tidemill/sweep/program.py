"""Any program that is run once for each number: soak seeds, policies over programs, whatever prints counts."""

from __future__ import annotations

import json
import os
import select
import string
import subprocess
import time
from collections.abc import Mapping
from typing import IO, Any

from .. import _core
from .kinds import Count, Counts, Point, Range, add
from .settings import Table, combined

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
        if taken := sorted({"runs", "failed"} & {*values, *adds}):
            table.refuse("values" if taken[0] in values else "adds", f"{taken[0]} is what the sweep itself counts")
        common = {"command": command, "adds": adds, "timeout_s": timeout_s}
        return [{**common, "values": dict(zip(values, choice, strict=True))} for choice in combined(table, *values.values())]

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
        parts = [part for word in command for part in string.Formatter().parse(word)]
    except ValueError:
        table.refuse("command", "a brace is not closed: write {{ for a brace itself")
    found = [(name, form or conversion) for _, name, form, conversion in parts if name is not None]
    if any(not name.isidentifier() or more for name, more in found):
        table.refuse("command", "give names alone in braces, like {seed}: write {{ for a brace itself")
    if any("\0" in word for word in command):
        table.refuse("command", "a word has a character 0, which no program can be given")
    return {name for name, _ in found}


def _run(point: Point, values: Mapping[str, Any]) -> Counts:
    words = [word.format(**values) for word in point["command"]]
    deadline = time.monotonic() + point["timeout_s"]
    silent = subprocess.DEVNULL
    try:
        program = subprocess.Popen(
            words, stdin=silent, stdout=subprocess.PIPE if point["adds"] else silent, stderr=silent
        )
    except OSError as error:
        raise _core.JobFailed(f"{words[0]} cannot be run: {error.strerror}") from None
    try:
        output = _read(program.stdout, deadline)
        if len(output) > _LIMIT_BYTES:
            raise _core.JobFailed(f"{' '.join(words)} prints more than {_LIMIT_BYTES} bytes, which is no object of counts")
        if program.wait(max(deadline - time.monotonic(), 0)) != 0:
            return {"runs": 1, "failed": 1}
    except subprocess.TimeoutExpired:
        return {"runs": 1, "failed": 1}
    finally:
        program.kill()
        program.wait()
        if program.stdout:
            program.stdout.close()
    return {"runs": 1, "failed": 0, **_added(point, words, output)}


# No more than somebody reads, and no longer: what a program has begun may keep its output open for ever.
def _read(output: IO[bytes] | None, deadline: float) -> bytes:
    kept = b""
    while output is not None and len(kept) <= _LIMIT_BYTES:
        if not select.select([output], [], [], max(deadline - time.monotonic(), 0))[0]:
            break
        more = os.read(output.fileno(), 1 << 16)
        if not more:
            break
        kept += more
    return kept


def _added(point: Point, words: list[str], output: bytes) -> Counts:
    if not point["adds"]:
        return {}
    try:
        said = json.loads(output)
        return {name: _whole(said[name]) for name in point["adds"]}
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        names = ", ".join(point["adds"])
        raise _core.JobFailed(f"{' '.join(words)} does not print one JSON object with numbers for {names}") from None


def _whole(value: Any) -> int:
    if type(value) not in (int, float) or not abs(value) < 2**62:
        raise ValueError
    return int(round(value))
