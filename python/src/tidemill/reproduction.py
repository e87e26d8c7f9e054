"""Published tables and figures, made again: ours beside theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _given
from ._laboratory import lab

if TYPE_CHECKING:
    from .figures import Figure


_MOST = 10**9  # of whatever is counted


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

    def plot(self, table: int = 0, *, columns: Iterable[str] = ()) -> Figure:
        """One of the tables as a figure: a panel for each of its quantities, ours and as published, over what names its
        rows.

        columns: which of them, by their names in the table's data; else the first six.
        """
        from .figures.reproduced import table_figure

        return table_figure(self, self.tables[table], list(columns))

    def _repr_png_(self) -> bytes:
        return self.plot()._repr_png_()


def reproductions() -> dict[str, str]:
    """What there is, by name, with a sentence on each."""
    return dict(lab.reproductions())


def reproduce(
    name: str, *, chains: int = 1000, timed: int = 50, frames: int = 2000, tasks: int = 10000, seed: int = 1
) -> Reproduction:
    """Makes a published table or figure again, as `tidemill reproduce` does: "fig7", "table3", ...

    chains: random ones per setting; timed: per measured run time (fig7); frames: simulated executions (table3, fig11);
    tasks: per worker, of each StreamIt benchmark. Throws WrongUsage for a name that is not in reproductions().
    """
    made = lab.reproduce(
        _given.text("name", name),
        chains=_given.whole("chains", chains, 10, _MOST),
        timed=_given.whole("timed", timed, 1, _MOST),
        frames=_given.whole("frames", frames, 100, _MOST),
        tasks=_given.whole("tasks", tasks, 1, _MOST),
        seed=_given.seed(seed),
    )
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
