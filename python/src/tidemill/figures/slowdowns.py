"""How much slower than the best schedules strategies are: over many chains, as a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .figure import Figure, Note
from .style import COLOURS, LINES, new_figure, styled

if TYPE_CHECKING:
    from ..strategy_study import Slowdowns


def slowdowns_figure(study: Slowdowns) -> Figure:
    """Per strategy, the share of chains up to each slowdown."""
    strategy, slowdown = study.data["strategy"], study.data["slowdown"]
    names = list(dict.fromkeys(strategy))
    most = float(np.quantile(slowdown, 0.99))
    with styled():
        sheet, axes = new_figure(0.65)
        for place, name in enumerate(names):
            ours = np.sort(slowdown[strategy == name])
            share = np.arange(1, len(ours) + 1) / len(ours)
            # From the best there can be to the end of the axis.
            axes.plot([1, *ours, max(most, ours[-1])], [0, *share, 1], drawstyle="steps-post",
                      color=COLOURS[place % len(COLOURS)], linestyle=LINES[place % len(LINES)],
                      label=name)  # fmt: skip
        axes.set(xlabel="period over that of the best schedule", ylabel="share of the chains")
        axes.set(xlim=(1 - 0.02 * (most - 1), max(most, 1.01)), ylim=(0, 1.02))
        axes.legend(loc="best")
    return Figure(sheet, axes, dict(study.data), Note(study.call, study.seed))
