"""A table of results, drawn: lines over numbers, bars over names, and words as a table."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .figure import Figure, Note
from .style import COLOURS, MARKERS, new_figure, styled

if TYPE_CHECKING:
    from ..reproduction import Reproduction, Table

_MOST_SERIES = 6  # that can be told apart
_LOGARITHMIC = 100  # largest over smallest number
_LABEL = 32  # letters of a name that fit beside bars


def _is_number(column: NDArray[Any]) -> bool:
    return bool(np.issubdtype(column.dtype, np.number))


def table_figure(reproduction: Reproduction, table: Table) -> Figure:
    """The columns of numbers, against the first one if that has numbers, else against what the others name."""
    names = [name for name, column in table.data.items() if not _is_number(column)]
    numbers = [name for name, column in table.data.items() if _is_number(column) and np.isfinite(column).any()]
    over = numbers[0] if not names and len(numbers) > 1 else None
    series = [name for name in numbers if name != over][:_MOST_SERIES]
    with styled():
        sheet, axes = new_figure(0.7 if over else max(0.5, 0.2 + 0.08 * len(table) * max(1, len(series))))
        if not series:
            _write_words(axes, table, names)
        elif over:
            _draw_lines(axes, table, over, series)
        else:
            _draw_bars(axes, table, names, series)
        axes.set_title(table.title, fontsize=6, wrap=True)
        if len(series) > 1:
            axes.legend()
    return Figure(sheet, axes, dict(table.data), Note(reproduction.call, reproduction.seed))


def _spread(table: Table, series: list[str]) -> float:
    values = np.concatenate([np.asarray(table.data[name], float) for name in series])
    values = values[np.isfinite(values)]
    return float(values.max() / values.min()) if len(values) and values.min() > 0 else 1


def _draw_lines(axes: Any, table: Table, over: str, series: list[str]) -> None:
    for each, name in enumerate(series):
        axes.plot(table.data[over], table.data[name], color=COLOURS[each], marker=MARKERS[each], label=name)
    axes.set(xlabel=over, ylabel=series[0] if len(series) == 1 else "")
    if _spread(table, series) > _LOGARITHMIC:
        axes.set_yscale("log")


def _write_words(axes: Any, table: Table, names: list[str]) -> None:
    """Where there are no numbers to draw."""
    columns = [[shorten(str(value), _LABEL, placeholder=" ...") for value in table.data[name]] for name in names]
    rows = [list(row) for row in zip(*columns, strict=True)]
    axes.axis("off")
    if not rows:  # nothing could be made here, and the notes say why
        axes.text(0.5, 0.5, "\n".join(table.notes), ha="center", va="center", wrap=True)
        return
    axes.table(rows, colLabels=names, loc="center", cellLoc="left").auto_set_font_size(True)


def _draw_bars(axes: Any, table: Table, names: list[str], series: list[str]) -> None:
    named = [" ".join(str(table.data[name][row]) for name in names) for row in range(len(table))]
    labels = [shorten(name, _LABEL, placeholder=" ...") for name in named]
    places = np.arange(len(table))
    height = 0.8 / max(1, len(series))
    for each, name in enumerate(series):
        axes.barh(places + each * height, table.data[name], height, color=COLOURS[each], label=name)
    axes.set(yticks=places + height * (len(series) - 1) / 2, yticklabels=labels)
    axes.set_xlabel(series[0] if len(series) == 1 else "")
    axes.tick_params(axis="y", labelsize=5)
    axes.invert_yaxis()
    if series and _spread(table, series) > _LOGARITHMIC:
        axes.set_xscale("log")
