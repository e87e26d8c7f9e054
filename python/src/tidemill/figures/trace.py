"""A trace that a run has left, drawn: which task each thread was in, and on which frame."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .. import _core
from .figure import Figure, Note
from .style import COLOURS, new_figure, styled

_NAMES = ("thread", "task", "frame", "begin_us", "end_us")


def trace(path: str | os.PathLike[str], *, first_frame: int | None = None, frames: int = 24) -> Figure:
    """Draws a part of what run(trace=...), or an option --trace of the program, has written: some frames, by colours.

    first_frame: else one in the middle, when all have found their pace. Throws WrongUsage for a file without calls.
    """
    calls = _calls(path)
    numbers = sorted({call[2] for call in calls})
    if not calls:
        raise _core.WrongUsage(f"{os.fspath(path)} has no calls of tasks")
    first = numbers[max(0, (len(numbers) - frames) // 2)] if first_frame is None else first_frame
    shown = sorted(call for call in calls if first <= call[2] < first + frames)
    if not shown:
        raise _core.WrongUsage(f"{os.fspath(path)} has the frames {numbers[0]} to {numbers[-1]}, none from {first} on")
    columns: dict[str, list[Any]] = {name: [call[k] for call in shown] for k, name in enumerate(_NAMES)}
    with styled():
        _, axes = drawing = _new_drawing(columns)
        zero = min(columns["begin_us"])
        rows = list(dict.fromkeys(columns["thread"]))
        for thread, _, frame, begin, end in shown:
            colour = COLOURS[1 + frame % (len(COLOURS) - 1)]
            axes.barh(rows.index(thread), end - begin, left=begin - zero, height=0.8, color=colour, edgecolor=colour,
                      linewidth=0.3)  # so that short ones are seen # fmt: skip
        axes.set_title(f"frames {first} to {max(columns['frame'])}")
    return Figure(*drawing, columns, Note(f"tidemill.figures.trace({Path(path).name!r}, frames={frames})"))


def _new_drawing(columns: dict[str, list[Any]]) -> tuple[Any, Any]:
    rows = list(dict.fromkeys(columns["thread"]))
    sheet, axes = new_figure(max(0.35, 0.2 + 0.08 * len(rows)))
    axes.set(yticks=range(len(rows)), yticklabels=rows, xlabel="microseconds")
    axes.invert_yaxis()
    axes.grid(False)
    return sheet, axes


def _calls(path: str | os.PathLike[str]) -> list[tuple[str, str, int, float, float]]:
    try:
        events = json.loads(Path(path).read_text(encoding="utf-8"))["traceEvents"]
        threads = {
            (e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"
        }
        return [
            (f"stage {e['pid']}, {threads[e['pid'], e['tid']]}", e["name"], int(e["args"]["frame"]),
             float(e["ts"]), float(e["ts"] + e["dur"]))
            for e in events
            if e["ph"] == "X" and e["cat"] == "task"
        ]  # fmt: skip
    except (ValueError, KeyError, TypeError) as error:
        raise _core.WrongUsage(f"{os.fspath(path)} is no trace of a run: {error}") from None
