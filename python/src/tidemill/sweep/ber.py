"""Frame and bit errors over white noise, as `tidemill dvbs2 ber` counts them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import _core, dvbs2
from .kinds import Count, Counts, Point, Range
from .settings import Table, combined

_AXES = ("esn0", "ebn0", "margin")
_ENDLESS = 2**62


class Ber:
    name = "ber"
    numbers = "frames"
    events: str | None = "frames_wrong"

    def points(self, table: Table) -> list[dict[str, Any]]:
        frame = table.word("frame", "normal", ["normal", "short"])
        modcods = _modcods(table, frame)
        axes = {axis: table.numbers(axis) for axis in _AXES if table.has(axis)}
        common = {
            "frame": frame,
            "sync": table.word("sync", "ideal", ["ideal", "full"]),
            "pilots": table.flag("pilots"),
            "burst": table.whole("burst", 100, 1, 1000),
            "iterations": table.whole("iterations", 50, 1, 1000),
        }
        if len(axes) != 1:
            table.refuse(next(iter(axes), _AXES[0]), f"give one of {', '.join(_AXES)}, in dB")
        ((axis, dbs),) = axes.items()
        if not all(abs(db) <= 200 for db in dbs):
            table.refuse(axis, "give -200 to 200 dB")
        return [{"modcod": modcod, axis: db, **common} for modcod, db in combined(table, modcods, dbs)]

    def step(self, point: Point) -> int:
        return int(point["burst"]) if point["sync"] == "full" else 1

    def count(self, point: Point, seed: int, target: str, range_: Range) -> Count:
        curve = dvbs2.ber(
            point["modcod"],
            **{name: value for name, value in point.items() if name != "modcod"},
            errors=_ENDLESS if range_.limit is None else range_.limit,
            frames=range_.length,
            first_frame=range_.first,
            threads=1,
            seed=seed,
            target=target,
        )
        row = {name: column[0].item() for name, column in curve.data.items()}
        counts = {name: value for name, value in row.items() if type(value) is int}
        said = {name: row[name] for name in ("modcod", "frame", "esn0_db", "ebn0_db", "table_13_esn0_db")}
        return Count(counts, {**said, "notes": curve.notes})

    def row(self, point: Point, said: Mapping[str, Any], counts: Counts) -> dict[str, Any]:
        """The row of `tidemill dvbs2 ber --json`, to the last digit."""
        frames, wrong = counts.get("frames", 0), counts.get("frames_wrong", 0)
        low, high = _core.proportion_interval(wrong, frames)
        bits, seen = counts.get("bits", 0), frames - counts.get("frames_lost", 0)
        total = counts.get("ldpc_iterations_total", 0)
        known = {
            **dict.fromkeys(_COUNTED, 0),
            **{name: value for name, value in said.items() if name != "notes"},
            **counts,
            "frame_error_rate": wrong / frames if frames else None,
            "frame_error_rate_low": low if frames else None,
            "frame_error_rate_high": high if frames else None,
            "bit_error_rate": counts["bits_wrong"] / bits if bits else None,
            "ldpc_iterations": total / seen if seen else None,
        }
        return {name: known.get(name, point.get(name)) for name in _COLUMNS}


_COUNTED = [
    "frames", "frames_wrong", "frames_lost", "frames_wrong_undetected", "bits", "bits_wrong", "ldpc_iterations_total",
]  # fmt: skip
_COLUMNS = [
    "modcod", "frame", "esn0_db", "ebn0_db", "table_13_esn0_db", "frames", "frames_wrong", "frames_lost",
    "frames_wrong_undetected", "frame_error_rate", "frame_error_rate_low", "frame_error_rate_high", "bit_error_rate",
    "ldpc_iterations", "sum_product_frames_wrong", "sum_product_frame_error_rate", "capacity_esn0_db",
    "linear_equaliser_esn0_db", "bits", "bits_wrong", "ldpc_iterations_total",
]  # fmt: skip


def _modcods(table: Table, frame: str) -> list[str]:
    given, named = table.words("modcod"), []
    every = [modcod for modcod in _core.modcods() if frame == "normal" or not modcod.endswith("9/10")]
    if given == ["all"]:
        return every
    try:
        named = [_core.modcod_name(each) for each in given]
    except _core.WrongUsage:
        table.refuse("modcod", f'give "all", or some of {", ".join(every)}')
    for each in named:
        if each not in every:
            table.refuse("modcod", "rate 9/10 has no short frames")
    if not named or len(set(named)) < len(named):
        table.refuse("modcod", 'give modulations and code rates, each once, like "QPSK 8/9", or "all"')
    return named


def rows_of_curve(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With NaN for what is not known, as arrays have it."""
    return [{name: math.nan if value is None else value for name, value in row.items()} for row in rows]
