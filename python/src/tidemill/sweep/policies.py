"""Policies over programs of tasks, by simulation: times of run n follow from the seed and n alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..task_simulation import policies, simulate_tasks, task_programs
from .chains import PPB, seed_of
from .kinds import Count, Counts, Point, Range, add
from .settings import Table, combined

_NS_PER_US = 1000


class Policies:
    """How long each program takes under each policy where tasks' times vary."""

    name = "policies"
    numbers = "runs"
    events: str | None = None

    def points(self, table: Table) -> list[dict[str, Any]]:
        programs, named = table.words("program"), table.words("policy")
        programs = sorted(task_programs()) if programs == ["all"] else programs
        named = sorted(policies()) if named == ["all"] else named
        _check(table, "program", programs, sorted(task_programs()))
        _check(table, "policy", [part for each in named for part in each.split(",")], sorted(policies()))
        noises = table.numbers("noise") if table.has("noise") else [0.1]
        if not all(0 <= noise <= 100 for noise in noises):
            table.refuse("noise", "give relative standard deviations from 0 to 100")
        common = {
            "workers": table.whole("workers", 4, 1, 1024),
            "iterations": table.whole("iterations", 0, 0, 10**6),
            "window": table.whole("window", 16, 1, 10**6),
        }
        choices = combined(table, programs, noises, named)
        return [{"program": program, "policy": policy, "noise": noise, **common} for program, noise, policy in choices]

    def step(self, point: Point) -> int:
        return 1

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        counts: Counts = {}
        wishes = {name: point[name] for name in ("policy", "workers", "window", "noise")}
        for number in range(range_.first, range_.first + range_.length):
            found = simulate_tasks(
                point["program"],
                **wishes,
                iterations=point["iterations"] or None,
                seed=seed_of(seed, number) % 2**63,
                drawn_iterations=0,
            ).report
            add(counts, _counted(found))
        return Count(counts, {})

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        runs = counts.get("runs", 0)
        return {
            **{name: point[name] for name in ("program", "policy", "noise", "workers")},
            "runs": runs,
            "makespan_us": counts["makespan_ns"] / _NS_PER_US / runs if runs else None,
            "makespan_us largest": counts["makespan_ns_most"] / _NS_PER_US if runs else None,
            "efficiency": counts["efficiency_ppb"] / PPB / runs if runs else None,
            "peak_bytes largest": counts.get("peak_bytes_most"),
        }


def _check(table: Table, entry: str, named: list[str], known: list[str]) -> None:
    if not named or any(each not in known for each in named):
        table.refuse(entry, f'give some of {", ".join(known)}, or "all"')


# Whole numbers, so that no sum depends on its order.
def _counted(found: Mapping[str, Any]) -> Counts:
    makespan_ns = round(found["makespan_us"] * _NS_PER_US)
    return {
        "runs": 1,
        "makespan_ns": makespan_ns,
        "makespan_ns_most": makespan_ns,
        "efficiency_ppb": round(found["efficiency"] * PPB),
        "peak_bytes_most": int(found["peak_bytes"]),
    }
