"""Which frame each thread works on, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .figure import Figure, Note
from .style import COLOURS, ink_on, new_figure, styled

if TYPE_CHECKING:
    from ..scheduling import Simulation
    from ..task_simulation import TaskSimulation


def gantt_figure(simulation: Simulation) -> Figure:
    """A row for each thread; a frame has one colour in all of them."""
    names = ("stage", "thread", "frame", "begin_us", "end_us")
    steps = sorted(simulation.steps)
    columns: dict[str, list[Any]] = {
        name: [step[k] + 1 if k < 2 else step[k] for step in steps] for k, name in enumerate(names)
    }
    rows = list(dict.fromkeys(zip(columns["stage"], columns["thread"], strict=True)))
    span = max(columns["end_us"], default=0) - min(columns["begin_us"], default=0)
    with styled():
        sheet, axes = new_figure(max(0.35, 0.2 + 0.08 * len(rows)))
        for stage, thread, frame, begin, end in steps:
            row = rows.index((stage + 1, thread + 1))
            colour = COLOURS[1 + frame % (len(COLOURS) - 1)]
            axes.barh(row, end - begin, left=begin, height=0.8, color=colour, edgecolor="white", linewidth=0.3)
            if end - begin > 0.015 * len(str(frame)) * span:  # has room
                axes.text((begin + end) / 2, row, str(frame), ha="center", va="center", fontsize=5, color=ink_on(colour),
                          clip_on=True)  # fmt: skip
        axes.set(yticks=range(len(rows)), xlabel="microseconds")
        axes.set_yticklabels([f"stage {s}, thread {t}" for s, t in rows])
        axes.set_title(f"period {simulation.period_us:.2f} us")
        axes.invert_yaxis()
        axes.grid(False)
    return Figure(sheet, axes, columns, Note(simulation.call, simulation.seed))


def workers_figure(simulation: TaskSimulation) -> Figure:
    """A row for each worker; an iteration has one colour in all of them."""
    names = ("worker", "task", "iteration", "begin_us", "end_us")
    columns: dict[str, list[Any]] = {name: [step[k] for step in simulation.steps] for k, name in enumerate(names)}
    columns["worker"] = [worker + 1 for worker in columns["worker"]]
    workers = simulation.report["workers"]
    with styled():
        sheet, axes = new_figure(max(0.35, 0.2 + 0.08 * workers))
        for worker, _, iteration, begin, end in simulation.steps:
            axes.barh(worker + 1, end - begin, left=begin, height=0.8, edgecolor="white", linewidth=0.2,
                      color=COLOURS[1 + iteration % (len(COLOURS) - 1)])  # fmt: skip
        axes.set(yticks=range(1, workers + 1), xlabel="microseconds", ylabel="worker")
        axes.set_title(f"efficiency {simulation.report.efficiency:.3f}")
        axes.invert_yaxis()
        axes.grid(False)
    return Figure(sheet, axes, columns, Note(simulation.call, simulation.seed))
