"""A drawn schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .figure import Figure, Note
from .style import COLOURS, new_figure, styled

if TYPE_CHECKING:
    from ..scheduling import Profile, Schedule


def schedule_figure(schedule: Schedule, profile: Profile, command: str) -> Figure:
    """A bar for each stage: its tasks' weights, one after the other, over its threads; the longest is the period.

    Where a task's name has no room, its number in the chain stands.
    """
    told = schedule.describe(profile)
    weights = dict(zip(profile.data["task"], range(len(profile.data["task"])), strict=True))
    columns: dict[str, list[Any]] = {name: [] for name in ("stage", "kind", "threads", "task", "share_us")}
    for s, stage in enumerate(told["stages"]):
        kind, share = _busiest_thread(stage, profile, weights)
        for task in stage["tasks"]:
            columns["stage"].append(s + 1)
            columns["kind"].append(stage["kind"])
            columns["threads"].append(stage["cores"])
            columns["task"].append(task)
            columns["share_us"].append(profile.data[f"{kind}_us"][weights[task]] * share)
    with styled():
        stages = told["stages"]
        sheet, axes = new_figure(max(0.35, 0.2 + 0.13 * len(stages)))
        _draw_bars(axes, columns, profile.kinds)
        axes.axvline(told.period, color=COLOURS[2], linestyle="--", linewidth=0.8)
        axes.set_title(f"period {told.period:.2f} us")
        axes.set(yticks=range(1, len(stages) + 1), xlabel="microseconds a frame", ylabel="stage")
        axes.set_yticklabels([f"{s + 1}: {stage['cores']} {stage['kind']}" for s, stage in enumerate(stages)])
        axes.set_ylabel("")
        axes.invert_yaxis()
        axes.grid(False)
    return Figure(sheet, axes, columns, Note(command))


def _busiest_thread(stage: Any, profile: Profile, rows: dict[str, int]) -> tuple[str, float]:
    """The kind of core of the thread that decides a stage's weight, and its share of the frames."""
    if "word" not in stage:
        return stage["kind"], 1 / stage["cores"]
    word = stage["word"]

    def busy_us(letter: str) -> float:
        weights_us = profile.data[f"{_kind_of(letter)}_us"]
        return float(word.count(letter) * sum(weights_us[rows[task]] for task in stage["tasks"]))

    busiest = max(word, key=busy_us)
    return _kind_of(busiest), word.count(busiest) / len(word)


def _kind_of(letter: str) -> str:
    """The kind of core in a letter such as "big:1"."""
    return letter.rpartition(":")[0]


def _draw_bars(axes: Any, columns: dict[str, list[Any]], kinds: list[str]) -> None:
    left: dict[int, float] = {}
    drawn = 0
    longest = max(
        sum(us for s, us in zip(columns["stage"], columns["share_us"], strict=True) if s == stage)
        for stage in set(columns["stage"])
    )
    for stage, kind, task, share in zip(
        columns["stage"], columns["kind"], columns["task"], columns["share_us"], strict=True
    ):
        begin = left.get(stage, 0.0)
        axes.barh(stage, share, left=begin, height=0.6, color="#cfe3f1" if kind == kinds[0] else "#f5dfc0",
                  edgecolor="black", linewidth=0.4)  # fmt: skip
        drawn += 1
        text = next((t for t in (task, str(drawn)) if share > 0.02 * len(t) * longest), "")  # what has room
        axes.text(begin + share / 2, stage, text, ha="center", va="center", fontsize=5)
        left[stage] = begin + share
