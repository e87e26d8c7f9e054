"""What strategies make of many random chains, beside the best schedule of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _given
from ._laboratory import lab

if TYPE_CHECKING:
    from .figures import Figure


_MOST_CORES = 1000
_MOST_TASKS = 1000
_MOST_SEED = 2**40  # each has room for the numbers of its chains
_HEAVIEST = 10**6
_SLOWEST = 1e6


@dataclass(frozen=True)
class Slowdowns:
    """A row for each strategy and chain."""

    data: dict[str, NDArray[Any]]
    """Columns: chain, strategy, slowdown (its period over the best there is), big and little (cores that it uses)."""
    call: str = field(repr=False)
    seed: int

    def plot(self) -> Figure:
        """The share of chains up to each slowdown."""
        from .figures.slowdowns import slowdowns_figure

        return slowdowns_figure(self)

    def _repr_png_(self) -> bytes:
        return self.plot()._repr_png_()


def slowdowns(
    *,
    big: int = 10,
    little: int = 10,
    chains: int = 200,
    tasks: int = 20,
    stateless: float = 0.5,
    heaviest: int = 100,
    slowest: float = 5,
    seed: int = 1,
) -> Slowdowns:
    """Schedules random chains by every published strategy, on so many big and little cores.

    tasks: of each chain, of which the share `stateless` may be replicated; weights are whole numbers from 1 to
        `heaviest` on big cores, and 1 to `slowest` times that on little ones.
    """
    chains = _given.whole("chains", chains, 1)
    big, little = _given.whole("big", big, 0, _MOST_CORES), _given.whole("little", little, 0, _MOST_CORES)
    seed = _given.whole("seed", seed, 0, _MOST_SEED)
    if big + little < 1:
        raise _core.WrongUsage("slowdowns: give 1 core or more")
    law = lab.ChainLaw(
        tasks=_given.whole("tasks", tasks, 1, _MOST_TASKS),
        stateless=_given.number("stateless", stateless, 0, 1),
        heaviest=_given.whole("heaviest", heaviest, 1, _HEAVIEST),
        slowest=_given.number("slowest", slowest, 1, _SLOWEST),
    )
    rows = [
        (chain, *each)
        for chain in range(chains)
        for each in lab.study_chain(law, big=big, little=little, seed=seed * 1_000_003 + chain)
    ]
    names = ("chain", "strategy", "slowdown", "big", "little")
    columns = {name: np.array([row[place] for row in rows]) for place, name in enumerate(names)}
    call = (
        f"tidemill.slowdowns(big={big}, little={little}, chains={chains}, tasks={tasks}, stateless={stateless}, "
        f"heaviest={heaviest}, slowest={slowest}, seed={seed})"
    )
    return Slowdowns(columns, call, seed)
