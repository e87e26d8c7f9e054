"""How the time of each thread of a run went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .figure import Figure, Note
from .style import COLOURS, GREY, new_figure, styled


def stages_figure(run: Mapping[str, Any], command: str = "") -> Figure:
    """Per thread: work, waiting for input, waiting for room, and the rest, as shares of the run."""
    whole_us = 1e6 * run["elapsed_s"]
    columns: dict[str, list[Any]] = {name: [] for name in ("stage", "thread", "work", "pull_wait", "push_wait")}
    for s, stage in enumerate(run["stages"]):
        for t, thread in enumerate(stage["threads"]):
            columns["stage"].append(s + 1)
            columns["thread"].append(t + 1)
            columns["work"].append(thread["work_us"] / whole_us)
            columns["pull_wait"].append(thread["pull_wait"]["total_us"] / whole_us)
            columns["push_wait"].append(thread["push_wait"]["total_us"] / whole_us)
    rows = range(len(columns["stage"]))
    labels = [f"stage {s}, thread {t}" for s, t in zip(columns["stage"], columns["thread"], strict=True)]
    with styled():
        sheet, axes = new_figure(max(0.3, 0.15 + 0.09 * len(labels)))
        left = [0.0] * len(labels)
        looks = {"work": (COLOURS[1], "", "work"), "pull_wait": (COLOURS[6], "//", "waits for input"),
                 "push_wait": (GREY, "..", "waits for room")}  # fmt: skip
        for name, (colour, hatch, label) in looks.items():
            axes.barh(rows, columns[name], left=left, color=colour, hatch=hatch, label=label, edgecolor="white",
                      linewidth=0)  # fmt: skip
            left = [a + b for a, b in zip(left, columns[name], strict=True)]
        axes.set(yticks=list(rows), yticklabels=labels, xlim=(0, 1), xlabel="share of the run")
        axes.invert_yaxis()
        axes.grid(False)
        sheet.legend(loc="outside upper center", ncols=3)
    return Figure(sheet, axes, columns, Note(command))
