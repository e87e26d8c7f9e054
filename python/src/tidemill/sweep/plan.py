"""A sweep file: what is counted at which points, until when, and how it is cut into ranges."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .kinds import Kind
from .registry import KINDS
from .settings import SweepError, Table

_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Plan:
    """What a sweep counts. Two plans that differ in anything but `cuts` have other results."""

    count: str
    """Name of the kind."""
    seed: int
    points: list[dict[str, Any]]
    most: int
    """Numbers per point at most."""
    events: int | None
    """A point is done at so many, by the order of numbers; None: never before `most`."""
    target: str
    """Instruction set of all workers; empty: to be chosen."""
    cuts: Cuts

    @property
    def kind(self) -> Kind:
        return KINDS[self.count]

    def to_json(self) -> dict[str, Any]:
        """All that results follow from."""
        return {name: value for name, value in dataclasses.asdict(self).items() if name != "cuts"}


@dataclass(frozen=True)
class Cuts:
    """How long ranges are: so many numbers, or 0 for what takes a worker about `seconds`."""

    seconds: float
    numbers: int


def read_plan(source: str | os.PathLike[str] | Mapping[str, Any] | Plan) -> Plan:
    """Of a file, or of what one would hold; one that has been read stays as it is. Throws SweepError naming file and entry."""
    if isinstance(source, Plan):
        return source
    if isinstance(source, Mapping):
        return _plan_of(Table("the sweep", source))
    path = os.fspath(source)
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise SweepError(f"{path}: a sweep file has at most {_MOST_BYTES} bytes")
        return _plan_of(Table(path, tomllib.loads(text.decode("utf-8-sig"))))
    except OSError as error:
        raise SweepError(f"{path}: {error.strerror}: name a sweep file") from None
    except (ValueError, RecursionError) as error:
        raise SweepError(f"{path}: no TOML: {error}") from None


def _plan_of(table: Table) -> Plan:
    kind = KINDS[table.word("count", "", sorted(KINDS))]
    points_table, until, ranges = table.table(kind.name), table.table("until"), table.table("ranges")
    points = kind.points(points_table)
    most = until.whole(kind.numbers, 1000)
    cuts = Cuts(ranges.number("seconds", 2, 0.001, 3600), ranges.whole(kind.numbers, 0, 0))
    plan = Plan(
        count=kind.name,
        seed=table.whole("seed", 1, 0, 2**63 - 1),
        points=points,
        most=most,
        events=_events(kind, until),
        target=table.word("target", ""),
        cuts=cuts,
    )
    for each in (points_table, until, ranges, table):
        each.nothing_else()
    _check_steps(plan, until, ranges)
    return plan


# In a file the limit of "frames_wrong" is called "errors", as the program's option is.
def _events(kind: Kind, until: Table) -> int | None:
    if kind.events is None:
        return None
    name = "errors" if kind.events == "frames_wrong" else kind.events
    return until.whole(name, 100) if until.has(name) or kind.name == "ber" else None


def _check_steps(plan: Plan, until: Table, ranges: Table) -> None:
    for point in plan.points:
        step = plan.kind.step(point)
        for table, numbers in ((until, plan.most), (ranges, plan.cuts.numbers)):
            if numbers % step != 0:
                table.refuse(plan.kind.numbers, f"it cuts a burst: give a multiple of {step}")
