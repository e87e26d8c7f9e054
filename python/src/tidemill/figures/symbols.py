"""Where symbols fall, of several signals side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .figure import Figure, Note
from .style import COLUMN_WIDTH_IN, GREY, new_sheet, styled

_STEPS = 200  # across a panel
_REACH = 1.6  # times the mean amplitude


def constellations(signals: Mapping[str, ArrayLike], *, call: str = "") -> Figure:
    """How often the symbols of each signal fall where, dark where there are many: one panel for each, by its name.

    signals: one sample for each symbol, with their carrier at 0 and in phase; each is drawn over its mean amplitude.
    """
    given = {name: np.ravel(np.asarray(symbols)) for name, symbols in signals.items()}
    if not given or any(len(symbols) == 0 or not np.isfinite(symbols).all() for symbols in given.values()):
        raise _core.WrongUsage("constellations: give one signal or more, each with symbols, all of them finite")
    edges = np.linspace(-_REACH, _REACH, _STEPS + 1)
    columns: dict[str, list[float | str]] = {"signal": [], "i": [], "q": [], "symbols": []}
    middles = (edges[:-1] + edges[1:]) / 2
    with styled():
        width = 2 * COLUMN_WIDTH_IN
        sheet = new_sheet(width, width / len(given) + 0.2)
        panels = np.ravel(sheet.subplots(1, len(given), sharey=True))
        for axes, (name, symbols) in zip(panels, given.items(), strict=True):
            scaled = symbols / np.sqrt(np.mean(np.abs(symbols) ** 2))
            counts = np.histogram2d(scaled.imag, scaled.real, (edges, edges))[0]
            shade = np.sqrt(np.minimum(1, counts / max(1.0, float(np.quantile(counts[counts > 0], 0.99)))))
            axes.imshow(shade, extent=(-_REACH, _REACH, -_REACH, _REACH), origin="lower", cmap="Greys", vmin=0, vmax=1)
            axes.set(title=name, xticks=[-1, 0, 1], yticks=[-1, 0, 1])
            axes.grid(color=GREY, linewidth=0.2)
            row, column = np.nonzero(counts)
            columns["signal"] += [name] * len(row)
            columns["i"] += middles[column].tolist()
            columns["q"] += middles[row].tolist()
            columns["symbols"] += counts[row, column].tolist()
    return Figure(sheet, panels, columns, Note(call or f"tidemill.figures.constellations({', '.join(given)})"))
