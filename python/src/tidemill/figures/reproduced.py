"""A table of results, drawn: each quantity in a panel of its own, over the names or numbers that tell its rows apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill, shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .figure import Figure, Note
from .style import COLOURS, COLUMN_WIDTH_IN, GREY, LINES, MARKERS, new_sheet, styled

if TYPE_CHECKING:
    from ..reproduction import Reproduction, Table

_MOST_PANELS = 6
_LOGARITHMIC = 100  # largest over smallest number
_LONG = 1e4  # a number that is written with a k
_LABEL = 40  # letters of a name that fit beside bars
_UNIT = re.compile(r"\b(ns|us|ms|s|Mb/s|W|mJ/frame|dB|GHz)\b|%")
_ROW_IN = 0.12
_PANEL_IN = 1.5


@dataclass
class _Quantity:
    """A column, with what was published of it and how far it may be off, where the table has these."""

    name: str
    values: NDArray[Any]
    published: NDArray[Any] | None = None
    error: NDArray[Any] | None = None


def table_figure(reproduction: Reproduction, table: Table, columns: Sequence[str] = ()) -> Figure:
    """The wanted columns of numbers, else the first ones, against the columns that tell rows apart."""
    keys = _keys(table)
    quantities = _quantities(table, keys, columns)[:_MOST_PANELS]
    words = [name for name in table.data if name not in [*keys, "reproduces"] and not _is_number(table.data[name])]
    with styled():
        if not quantities or (not columns and len(words) > len(quantities)):
            sheet, axes = _write_words(table)
        elif len(keys) == 1 and _is_number(table.data[keys[0]]):
            sheet, axes = _draw_lines(table, keys[0], quantities)
        else:
            sheet, axes = _draw_bars(_labels(table, keys), quantities)
        width_in = sheet.get_figwidth()
        sheet.suptitle(fill(table.title, int(20 * width_in)), fontsize=7)
    return Figure(sheet, axes, dict(table.data), Note(reproduction.call, reproduction.seed))


def _is_number(column: NDArray[Any]) -> bool:
    return bool(np.issubdtype(column.dtype, np.number))


def _labels(table: Table, keys: Sequence[str]) -> list[str]:
    return [", ".join(_cell(table.data[name][row]) for name in keys) for row in range(len(table))]


def _keys(table: Table) -> list[str]:
    """As many of the first columns as it takes to tell rows apart; all that are words, where nothing does."""
    names = list(table.data)
    for count in range(1, len(names) + 1):
        if len(set(_labels(table, names[:count]))) == len(table):
            return names[:count]
    return [name for name in names if not _is_number(table.data[name])] or names[:1]


def _quantities(table: Table, keys: Sequence[str], columns: Sequence[str]) -> list[_Quantity]:
    for name in columns:
        if name not in table.data or not _is_number(table.data[name]):
            there = ", ".join(each for each in table.data if _is_number(table.data[each]))
            raise _core.WrongUsage(f"columns: {name!r} is no column of numbers; there are: {there}")
    found: list[_Quantity] = []
    beside = {" publ.": "published", " +-": "error"}
    numbers = {name: each for name, each in table.data.items() if name not in keys and _is_number(each)}
    for name, values in numbers.items():
        of, kind = next(((name.removesuffix(end), kind) for end, kind in beside.items() if f" {name}".endswith(end)), (name, ""))
        if kind and (of in numbers or (of in ("", "publ.", "+-") and found)):
            if of not in numbers:  # "publ." or "+-" alone is of what stands before it
                setattr(found[-1], kind, values)
        elif np.isfinite(values).any():
            found.append(_Quantity(name, values, numbers.get(f"{name} publ."), numbers.get(f"{name} +-")))
    return [each for each in found if not columns or each.name in columns]


def _spread(quantity: _Quantity) -> float:
    values = np.asarray(quantity.values, float)
    values = values[np.isfinite(values) & (values != 0)]
    return float(values.max() / values.min()) if len(values) and values.min() > 0 else 1


def _draw_bars(labels: Sequence[str], quantities: Sequence[_Quantity]) -> tuple[Any, Any]:
    from matplotlib.ticker import EngFormatter

    sheet = new_sheet(COLUMN_WIDTH_IN * min(2, len(quantities)), 0.9 + _ROW_IN * max(6, len(labels)))
    panels = list(np.ravel(sheet.subplots(1, len(quantities), sharey=True)))
    places = np.arange(len(labels))
    for axes, each in zip(panels, quantities, strict=True):
        axes.barh(places, each.values, 0.75, color=COLOURS[1], xerr=each.error, error_kw={"elinewidth": 0.6})
        if each.published is not None:
            axes.plot(each.published, places, linestyle="none", marker="D", markersize=2.5, color=COLOURS[2],
                      markeredgecolor="black", markeredgewidth=0.4, label="published")  # fmt: skip
        if _spread(each) > _LOGARITHMIC:
            axes.set_xscale("log")
        else:
            axes.locator_params(axis="x", nbins=3)
            if np.nanmax(np.abs(np.asarray(each.values, float))) >= _LONG:
                axes.xaxis.set_major_formatter(EngFormatter(sep=""))  # 20k: no factor apart, over the label
        axes.set_xlabel(fill(each.name, 14, break_long_words=False), fontsize=7)
        axes.tick_params(axis="both", labelsize=6)
    panels[0].set_yticks(places, [shorten(label, _LABEL, placeholder=" ...") for label in labels], fontsize=5)
    panels[0].set_ylim(len(labels) - 0.4, -0.6)
    _tell_published(sheet, panels)
    return sheet, panels


def _draw_lines(table: Table, over: str, quantities: Sequence[_Quantity]) -> tuple[Any, Any]:
    """In one panel what has one unit, or none."""
    units = {found[0] if (found := _UNIT.search(each.name)) else "" for each in quantities}
    together = len(units) == 1 and all(each.published is None for each in quantities)
    count = 1 if together else len(quantities)
    sheet = new_sheet(COLUMN_WIDTH_IN, 0.9 + (2 if together else count * _PANEL_IN))
    panels = list(np.ravel(sheet.subplots(count, 1, sharex=True)))
    for place, each in enumerate(quantities):
        axes = panels[0 if together else place]
        look = place if together else 0
        axes.errorbar(table.data[over], each.values, yerr=each.error, color=COLOURS[1 + look], marker=MARKERS[look],
                      linestyle=LINES[look % len(LINES)], elinewidth=0.6, label=each.name)  # fmt: skip
        if each.published is not None:
            axes.plot(table.data[over], each.published, color=GREY, linestyle="--", marker="x", label="published")
        if not together:
            axes.set_ylabel(fill(each.name, 24), fontsize=7)
        if max(_spread(each) for each in (quantities if together else [each])) > _LOGARITHMIC:
            axes.set_yscale("log")
    panels[-1].set_xlabel(over)
    if together and len(quantities) > 1:
        sheet.legend(loc="outside lower center", ncols=3)
    elif together:
        panels[0].set_ylabel(quantities[0].name)
    _tell_published(sheet, panels)
    return sheet, panels


def _tell_published(sheet: Any, panels: Sequence[Any]) -> None:
    for axes in panels:
        lines, names = axes.get_legend_handles_labels()
        if "published" in names:
            sheet.legend([lines[names.index("published")]], ["published"], loc="outside lower center")
            return


def _write_words(table: Table) -> tuple[Any, Any]:
    """Where there are no numbers to draw, or more words than numbers."""
    rows = [[_cell(table.data[name][row]) for name in table.data] for row in range(len(table))]
    lines = sum(max(text.count("\n") + 1 for text in row) for row in rows) + 2
    sheet = new_sheet(2 * COLUMN_WIDTH_IN, max(1.2, 0.6 + 1.1 * _ROW_IN * lines))
    axes = sheet.add_subplot()
    axes.axis("off")
    if not rows:  # nothing could be made here, and the notes say why
        axes.text(0.5, 0.5, "\n".join(fill(note, 80) for note in table.notes), ha="center", va="center",
                  fontsize=7)  # fmt: skip
        return sheet, axes
    widths = [max(len(line) for text in (name, *(row[k] for row in rows)) for line in text.split("\n"))
              for k, name in enumerate(table.data)]  # fmt: skip
    drawn = axes.table(rows, colLabels=list(table.data), colWidths=[each / sum(widths) for each in widths],
                       cellLoc="left", bbox=(0, 0, 1, 1))  # fmt: skip
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(min(7, 115 * 2 * COLUMN_WIDTH_IN / max(1, sum(widths) + 2 * len(widths))))
    for (row, _), cell in drawn.get_celld().items():
        cell.set_linewidth(0.3)
        cell.set_height((max(text.count("\n") + 1 for text in rows[row - 1]) if row > 0 else 1) / lines)
    return sheet, axes


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.4g}"
    return fill(str(value), _LABEL)
