"""How figures look: a paper's column wide, colours that stay apart in grey, fonts embedded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COLUMN_WIDTH_IN = 3.5
"""Of two-column papers."""

# Dark to light, so that a grey print keeps them apart; the hues are distinct for any eyes (after Okabe and
# Ito 2008).
COLOURS = ("#000000", "#0072b2", "#d55e00", "#2fb58c", "#cc79a7", "#6fbcea", "#f2c14e")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
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


def new_sheet(width_in: float, height_in: float) -> Any:
    """A figure of its own, known to no window system, without axes yet."""
    from matplotlib.figure import Figure as Sheet

    return Sheet(figsize=(width_in, height_in), layout="constrained")


def new_figure(height: float = 0.7, width_in: float = COLUMN_WIDTH_IN) -> tuple[Any, Any]:
    """The same with its axes. `height` is over its width."""
    sheet = new_sheet(width_in, height * width_in)
    return sheet, sheet.add_subplot()


def grey_of(colour: str) -> float:
    """What a grey print makes of it: 0 is black, 255 white."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def ink_on(colour: str) -> str:
    """Black or white, whichever can be read better on it."""
    return "black" if grey_of(colour) > 128 else "white"
