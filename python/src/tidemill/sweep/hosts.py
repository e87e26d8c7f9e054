"""Carriers on heads whose frames helpers decode, over links: by simulation, for more hosts than there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..batches import Line, line_of
from ..host_simulation import Carrier, Hosts, Link, simulate
from .chains import PPB, seed_of
from .kinds import Count, Counts, Point, Range, add
from .settings import Table, combined

_AXES = ("helpers", "link_gbit", "batch_frames")
_SHARE = "share_ppb of "
_BATCHES = 200


class SimulatedHosts:
    """What each of several carriers comes to, and what lets no more pass. What varies from run to run is the decoding."""

    name = "hosts"
    numbers = "runs"
    events: str | None = None

    def points(self, table: Table) -> list[dict[str, Any]]:
        helpers, batches = _wholes(table, "helpers", 4096), _wholes(table, "batch_frames", 1024)
        links = table.numbers("link_gbit")
        if not links or not all(0.001 <= link <= 1e5 for link in links):
            table.refuse("link_gbit", "give 0.001 to 100000 Gbit/s")
        common = {
            "carriers": table.whole("carriers", 1, 1, 1000),
            "symbol_rate": table.number("symbol_rate", 0, 0, 1e12),
            "head_cores": table.whole("head_cores", 1, 1, 4096),
            "helper_cores": table.whole("helper_cores", 1, 1, 4096),
            "delay_us": table.number("delay_us", 0, 0, 1e6),
            "frame": _frame(table.table("frame")),
            "engine": _engine(table.table("engine")),
        }
        axes = combined(table, helpers, links, batches)
        return [{**dict(zip(_AXES, values, strict=True)), **common} for values in axes]

    def step(self, point: Point) -> int:
        return 1

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        counts: Counts = {}
        carriers = [Carrier(**point["frame"], symbol_rate_hz=point["symbol_rate"] or None)] * point["carriers"]
        hosts = _hosts(point)
        for number in range(range_.first, range_.first + range_.length):
            passed = simulate(carriers, hosts, _BATCHES, seed_of(seed, number))
            shares = {_SHARE + name: round(share * PPB) for name, share in passed.shares.items()}
            rate_hz, latency_ns = round(passed.symbol_rate_hz), round(passed.latency_us * 1000)
            add(counts, {"runs": 1, "symbol_rate_hz": rate_hz, "latency_ns": latency_ns, **shares})
        return Count(counts, {})

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        runs = counts.get("runs", 0)
        shares = {name.removeprefix(_SHARE): value for name, value in counts.items() if name.startswith(_SHARE)}
        bound = max(shares, key=shares.__getitem__, default=None)
        return {
            "carriers": point["carriers"],
            **{name: point[name] for name in _AXES},
            "runs": runs,
            "symbol_rate_hz": counts["symbol_rate_hz"] / runs if runs else None,
            "latency_us": counts["latency_ns"] / 1000 / runs if runs else None,
            "busiest": bound,
            "busy": shares[bound] / PPB / runs if bound else None,
        }


def _wholes(table: Table, name: str, most: int) -> list[int]:
    values = table.numbers(name)
    if not values or not all(value.is_integer() and 1 <= value <= most for value in values):
        table.refuse(name, f"give whole numbers from 1 to {most}")
    return [int(value) for value in values]


# What Carrier() takes.
def _frame(table: Table) -> dict[str, Any]:
    frame = {
        "symbols": table.whole("symbols", 0, 1, 10**6),
        "rest_us": table.number("rest_us", -1, 0.001, 1e9),
        "slowest_us": table.number("slowest_us", -1, 0.001, 1e9),
        "decode_us": table.number("decode_us", -1, 0, 1e9),
        "decode_deviation": table.number("decode_deviation", 0, 0, 10),
        "frame_bytes": table.whole("frame_bytes", 64800, 1, 10**6),
        "bbframe_bytes": table.whole("bbframe_bytes", 0, 1, 10**6),
    }
    table.nothing_else()
    return frame


def _engine(table: Table) -> dict[str, dict[str, float]]:
    lines = {name: asdict(line_of(table.table(name))) for name in ("head", "helper")}
    table.nothing_else()
    return lines


def _hosts(point: Point) -> Hosts:
    return Hosts(
        helpers=point["helpers"],
        head_cores=point["head_cores"],
        helper_cores=point["helper_cores"],
        link=Link(point["link_gbit"] * 1e9, point["delay_us"]),
        sender=Line(**point["engine"]["head"]),
        receiver=Line(**point["engine"]["helper"]),
        frames=point["batch_frames"],
    )
