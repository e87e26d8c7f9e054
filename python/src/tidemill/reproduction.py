"""Published tables and figures, made again: ours beside theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    from .figures import Figure


@dataclass(frozen=True)
class Table:
    """One table of results: columns under the names of `tidemill reproduce --json`."""

    title: str
    data: dict[str, NDArray[Any]]
    notes: list[str]

    def __len__(self) -> int:
        return len(next(iter(self.data.values()), ()))


@dataclass(frozen=True)
class Reproduction:
    """A published table or figure: what it shows, in one or more tables."""

    name: str
    summary: str
    tables: list[Table]
    call: str
    seed: int

    def plot(self, table: int = 0) -> Figure:
        """One of the tables as a figure: its numbers against what its first column names."""
        from .figures.reproduced import table_figure

        return table_figure(self, self.tables[table])

    def _repr_png_(self) -> bytes:
        return self.plot()._repr_png_()


def reproductions() -> dict[str, str]:
    """What there is, by name, with a sentence on each."""
    return dict(_core.reproductions())


def reproduce(
    name: str, *, chains: int = 1000, timed: int = 50, frames: int = 2000, tasks: int = 10000, seed: int = 1
) -> Reproduction:
    """Makes a published table or figure again, as `tidemill reproduce` does: "fig7", "table3", ...

    chains: random ones per setting; timed: per measured run time (fig7); frames: simulated executions (table3, fig11);
    tasks: per worker, of each StreamIt benchmark. Throws WrongUsage for a name that is not in reproductions().
    """
    if chains < 10 or timed < 1 or frames < 100 or tasks < 1:
        raise _core.WrongUsage("reproduce: give 10 chains or more, 1 timed, 100 frames, and 1 task or more")
    made = _core.reproduce(name, chains=chains, timed=timed, frames=frames, tasks=tasks, seed=seed)
    tables = [Table(each["title"], _columns(each["rows"]), each["notes"]) for each in made]
    call = f"tidemill.reproduce({name!r}, chains={chains}, timed={timed}, frames={frames}, tasks={tasks}, seed={seed})"
    return Reproduction(name, reproductions()[name], tables, call, seed)


def _columns(rows: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    names = list(rows[0]) if rows else []
    return {name: _column([row[name] for row in rows]) for name in names}


def _column(values: list[Any]) -> NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else str(value) for value in values])
    return np.array([np.nan if value is None else value for value in values])
