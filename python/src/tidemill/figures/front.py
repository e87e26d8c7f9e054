"""Period against power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .figure import Figure, Note
from .style import COLOURS, new_figure, styled

if TYPE_CHECKING:
    from ..scheduling import Front


def front_figure(front: Front) -> Figure:
    """Each schedule of the front as a point; between two of them nothing is better."""
    cores = [",".join(f"{kind}={count}" for kind, count in each.cores.items()) for each in front.schedules]
    columns: dict[str, list[Any]] = {
        "period_us": list(front.periods_us),
        "power_w": list(front.powers_w),
        "cores": cores,
        "stages": [len(each.stages) for each in front.schedules],
    }
    with styled():
        sheet, axes = new_figure(0.7)
        axes.plot(front.periods_us, front.powers_w, drawstyle="steps-post", color=COLOURS[1], marker="o")
        for place in {0, len(front) - 1}:
            last = place > 0
            axes.annotate(cores[place], (front.periods_us[place], front.powers_w[place]), fontsize=6,
                          xytext=(-6, -2) if last else (6, 2), textcoords="offset points",
                          ha="right" if last else "left")  # fmt: skip
        axes.set(xlabel="period in microseconds", ylabel="power in watts", title=front.assumed)
        axes.set_ylim(0, 1.1 * max(front.powers_w))
    return Figure(sheet, axes, columns, Note(f"{front.call}; {front.assumed}" if front.assumed else front.call))
