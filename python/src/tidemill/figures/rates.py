"""Error rates over the signal-to-noise ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .figure import Figure, Note
from .style import COLOURS, GREY, MARKERS, new_figure, styled

if TYPE_CHECKING:
    from ..dvbs2 import Curve

_KNOWN = ("StreamPU", "capacity")


def rates_figure(curve: Curve, compare: list[str]) -> Figure:
    """Frame error rates with 95 % intervals; points without an error show their upper limit."""
    for name in compare:
        if name not in _KNOWN:
            raise _core.WrongUsage(f"compare='{name}': give {' or '.join(_KNOWN)}")
    with styled():
        sheet, axes = new_figure(0.8)
        columns: dict[str, list[Any]] = {name: [] for name in ("who", "modcod", "ebn0_db", "fer", "low", "high")}
        for place, modcod in enumerate(dict.fromkeys(curve.data["modcod"])):
            _draw_code(axes, curve, modcod, place, compare, columns)
        axes.set(yscale="log", xlabel="$E_b/N_0$ in dB", ylabel="frame error rate")
        axes.set_ylim(top=1.5)
        _place_legend(sheet, axes)
    return Figure(sheet, axes, columns, Note(curve.call, curve.seed))


# Each name once. Beside the curves there is room for a few, since they fall steeply.
def _place_legend(sheet: Any, axes: Any) -> None:
    lines, names = axes.get_legend_handles_labels()
    known = dict(zip(names, lines, strict=True))
    if len(known) > 3:
        sheet.legend(known.values(), known.keys(), loc="outside upper center", ncols=2)
    else:
        axes.legend(known.values(), known.keys(), loc="best", frameon=True, framealpha=0.9, edgecolor="none")


def _draw_code(
    axes: Any, curve: Curve, modcod: str, place: int, compare: list[str], columns: dict[str, list[Any]]
) -> None:
    rows = curve.data["modcod"] == modcod
    ebn0, fer, low, high = (
        np.asarray(curve.data[name][rows], float)
        for name in ("ebn0_db", "frame_error_rate", "frame_error_rate_low", "frame_error_rate_high")
    )
    seen = fer > 0
    colour = COLOURS[place % len(COLOURS)]
    axes.errorbar(ebn0[seen], fer[seen], yerr=[fer[seen] - low[seen], high[seen] - fer[seen]], color=colour,
                  marker=MARKERS[place % len(MARKERS)], capsize=1.5, elinewidth=0.6,
                  label=f"{modcod} {curve.frame}")  # fmt: skip
    axes.plot(ebn0[~seen], high[~seen], color=colour, linestyle="none", marker="v", markerfacecolor="none")
    _add(columns, "tidemill", modcod, ebn0, fer, low, high)
    if "StreamPU" in compare:
        _draw_published(axes, curve, modcod, colour, columns)
    if "capacity" in compare:
        _draw_capacity(axes, curve, rows, modcod, colour, columns)


def _draw_published(axes: Any, curve: Curve, modcod: str, colour: str, columns: dict[str, list[Any]]) -> None:
    rates = _core.published_rates(modcod, curve.frame)
    if not rates:
        return
    ebn0 = [rate["ebn0_db"] for rate in rates]
    fer = [rate["frame_error_rate"] for rate in rates]
    axes.plot(ebn0, fer, color=GREY, linestyle="--", marker="x", label=f"{rates[0]['who']}")
    unknown = [float("nan")] * len(rates)
    _add(columns, rates[0]["who"], modcod, ebn0, fer, unknown, unknown)


# The least Eb/N0 at which that many bits a symbol can be carried over white noise, whatever the symbols.
def _draw_capacity(
    axes: Any, curve: Curve, rows: Any, modcod: str, colour: str, columns: dict[str, list[Any]]
) -> None:
    bits = 10 ** ((curve.data["esn0_db"][rows][0] - curve.data["ebn0_db"][rows][0]) / 10)
    limit_db = float(10 * np.log10((2**bits - 1) / bits))
    axes.axvline(limit_db, color=colour, linestyle=":", label=f"Shannon's limit, {bits:.2f} bit/symbol")
    nan = [float("nan")]
    _add(columns, "capacity", modcod, [limit_db], nan, nan, nan)


def _add(columns: dict[str, list[Any]], who: str, modcod: str, ebn0: Any, fer: Any, low: Any, high: Any) -> None:
    for name, values in zip(("ebn0_db", "fer", "low", "high"), (ebn0, fer, low, high), strict=True):
        columns[name].extend(float(value) for value in values)
    columns["who"].extend([who] * len(ebn0))
    columns["modcod"].extend([str(modcod)] * len(ebn0))
