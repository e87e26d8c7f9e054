"""How figures look: a paper's column wide, colours that stay apart in grey, fonts embedded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COLUMN_WIDTH_IN = 3.5
"""Of two-column papers."""

# Dark to light, so that a grey print keeps the order; the hues are told apart with any eyes (Okabe and Ito 2008).
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#e69f00", "#56b4e9", "#cc79a7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#8c8c8c"

_SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.4,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "figure.dpi": 200,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
}


@contextmanager
def styled() -> Iterator[None]:
    """Settings of matplotlib's for as long as a figure is made or saved; those of the user stay as they are."""
    try:
        import matplotlib
    except ImportError as missing:
        raise ImportError("figures need matplotlib: pip install matplotlib") from missing

    with matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(height: float = 0.7, width_in: float = COLUMN_WIDTH_IN) -> tuple[Any, Any]:
    """A figure of its own, known to no window system, and its axes. `height` is over its width."""
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(width_in, height * width_in), layout="constrained")
    return sheet, sheet.add_subplot()
