"""Strategies and simulations over random chains: chain n follows from the seed and n alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from .. import _core
from .._laboratory import lab
from ..scheduling import Profile, schedule, simulate
from .kinds import Count, Counts, Point, Range, add
from .settings import Table, combined

PPB = 10**9
"""Ratios are counted in billionths, whole ones, so that no sum depends on its order."""


def seed_of(seed: int, number: int) -> int:
    """Of number n's chain, or run: far from those beside it."""
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8], "little")


def _chains(table: Table) -> list[dict[str, Any]]:
    cores = table.take("cores", [{"big": 16, "little": 4}])
    fits = isinstance(cores, list) and all(_are_cores(each) for each in cores)
    if not fits or not cores:
        table.refuse("cores", "give a list of { big = 16, little = 4 }, each from 0 to 1000 and one at least")
    law = {
        "tasks": table.whole("tasks", 20, 1, 1000),
        "heaviest": table.whole("heaviest", 100, 1, 10**9),
        "slowest": table.number("slowest", 5, 1, 1e6),
    }
    shares = table.numbers("stateless") if table.has("stateless") else [0.5]
    if not all(0 <= share <= 1 for share in shares):
        table.refuse("stateless", "give shares from 0 to 1")
    return [{**each, "stateless": share, **law} for each, share in combined(table, cores, shares)]


def _are_cores(given: Any) -> bool:
    fits = isinstance(given, Mapping) and set(given) == {"big", "little"}
    return fits and all(type(n) is int and 0 <= n <= 1000 for n in given.values()) and sum(given.values()) > 0


def _law(point: Point) -> lab.ChainLaw:
    return lab.ChainLaw(
        tasks=point["tasks"],
        stateless=point["stateless"],
        heaviest=point["heaviest"],
        slowest=point["slowest"],
    )


class Strategies:
    """What each published strategy makes of random chains, beside the best possible."""

    name = "strategies"
    numbers = "chains"
    events: str | None = None

    def points(self, table: Table) -> list[dict[str, Any]]:
        return _chains(table)

    def step(self, point: Point) -> int:
        return 1

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        law, counts = _law(point), Counts()
        for number in range(range_.first, range_.first + range_.length):
            found = lab.study_chain(law, big=point["big"], little=point["little"], seed=seed_of(seed, number))
            add(counts, {"chains": 1})
            for name, slowdown, big, little in found:
                add(counts, _studied(name, slowdown, int(big), int(little)))
        return Count(counts, {})

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        chains = counts.get("chains", 0)
        row: dict[str, Any] = {"big": point["big"], "little": point["little"], "stateless": point["stateless"]}
        row["chains"] = chains
        for name in (field.removesuffix(" best") for field in counts if field.endswith(" best")):
            row[f"{name} best share"] = counts[f"{name} best"] / chains
            row[f"{name} slowdown"] = counts[f"{name} slowdown_ppb"] / PPB / chains
            row[f"{name} slowdown largest"] = counts[f"{name} slowdown_ppb_most"] / PPB
            row[f"{name} big"] = counts[f"{name} big"] / chains
            row[f"{name} little"] = counts[f"{name} little"] / chains
        return row


def _studied(name: str, slowdown: float, big: int, little: int) -> Counts:
    ppb = min(round(slowdown * PPB), 2**62)  # a strategy may find no cores that it could use
    return {
        f"{name} best": int(slowdown <= 1 + 1e-9),
        f"{name} slowdown_ppb": ppb,
        f"{name} slowdown_ppb_most": ppb,
        f"{name} big": big,
        f"{name} little": little,
    }


class Simulations:
    """How far the best schedule's period is missed where tasks' times vary, by simulation of random chains."""

    name = "simulate"
    numbers = "chains"
    events: str | None = None

    def points(self, table: Table) -> list[dict[str, Any]]:
        jitters = table.numbers("jitter") if table.has("jitter") else [0.1]
        frames = table.whole("frames", 1000, 1, 10**7)
        strategy = table.word("strategy", "herad")
        if not all(0 <= jitter <= 100 for jitter in jitters):
            table.refuse("jitter", "give relative standard deviations from 0 to 100")
        if strategy not in [name for name, _ in _core.strategies()]:
            table.refuse("strategy", "give one of those that tidemill schedule --help lists")
        more = {"frames": frames, "strategy": strategy}
        return [{**chain, "jitter": jitter, **more} for chain, jitter in combined(table, _chains(table), jitters)]

    def step(self, point: Point) -> int:
        return 1

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        law, counts = _law(point), Counts()
        cores = {kind: point[kind] for kind in ("big", "little") if point[kind] > 0}
        for number in range(range_.first, range_.first + range_.length):
            chain_seed = seed_of(seed, number)
            profile = Profile(lab.random_profile(law, seed=chain_seed))
            best = schedule(profile, cores=cores, strategy=point["strategy"])
            found = simulate(best, frames=point["frames"], drawn_frames=0, jitter=point["jitter"], seed=chain_seed)
            assert best.period_us is not None
            ppb = round(found.period_us / best.period_us * PPB)
            add(counts, {"chains": 1, "period_ppb": ppb, "period_ppb_most": ppb})
        return Count(counts, {})

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        chains = counts.get("chains", 0)
        shown = ("big", "little", "stateless", "jitter", "strategy")
        return {
            **{name: point[name] for name in shown},
            "chains": chains,
            "period over forecast": counts["period_ppb"] / PPB / chains if chains else None,
            "largest": counts["period_ppb_most"] / PPB if chains else None,
        }
