"""What a receiver saw: its constellation, and the margin of each frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .figure import Figure, Note
from .style import COLOURS, GREY, new_figure, styled

if TYPE_CHECKING:
    from ..dvbs2 import Report


def constellation_figure(report: Report, symbols: int) -> Figure:
    """Data symbols as the demapper gets them, over their amplitude."""
    shown = report.constellation[-symbols:] if symbols > 0 else report.constellation[:0]
    if len(shown) == 0:
        raise _core.WrongUsage("no symbols were kept: receive with constellation=True")
    with styled():
        sheet, axes = new_figure(1.0)
        # Faint points on one another show where symbols are dense.
        axes.plot(shown.real, shown.imag, ".", color=COLOURS[1], alpha=0.25, markersize=1.5, markeredgewidth=0,
                  rasterized=True)  # fmt: skip
        reach = 1.15 * float(np.quantile(np.abs(shown), 0.999))
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="in phase", ylabel="quadrature", aspect="equal")
        axes.set_title(f"{report.modulation} {report.code_rate}, {len(shown)} symbols, Es/N0 {report.esn0_db:.2f} dB")
    return Figure(sheet, axes, {"i": shown.real, "q": shown.imag}, Note(report.call))


def margin_figure(report: Report) -> Figure:
    """How far each frame was above the threshold of its code (EN 302 307-1, table 13)."""
    frames = np.arange(len(report.frame_margin_db))
    good = report.frame_good
    with styled():
        sheet, axes = new_figure(0.55)
        axes.axhline(0, color=GREY, linestyle="--")
        axes.plot(frames, report.frame_margin_db, color=COLOURS[1], linewidth=0.6)
        axes.plot(frames[good], report.frame_margin_db[good], ".", color=COLOURS[1], label="decoded")
        if not good.all():
            axes.plot(frames[~good], report.frame_margin_db[~good], "x", color=COLOURS[2], label="bad")
            axes.legend()
        axes.set(xlabel="frame", ylabel="Es/N0 over threshold in dB")
        axes.set_ylim(bottom=min(0.0, float(report.frame_margin_db.min())) - 0.3)
    columns = {
        "frame": frames,
        "esn0_db": report.frame_esn0_db,
        "margin_db": report.frame_margin_db,
        "good": good,
        "ldpc_iterations": report.frame_ldpc_iterations,
    }
    return Figure(sheet, axes, columns, Note(report.call))
