"""Counts that outgrow one machine: points cut into ranges, dealt to whatever engine is there, added up in order.

`run()` is what `tidemill sweep` does; docs/guides/many-machines.md of the source teaches both.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import _core, dvbs2
from . import engines
from .ber import rows_of_curve
from .deal import Dealer, Host, tallies_of
from .engines import Engine
from .plan import Plan, read_plan
from .settings import SweepError
from .state import State, check_same_sweep, new_body, read_state
from .table import to_text
from .work import build_here, instruction_sets_here

__all__ = ["Result", "SweepError", "run", "status"]

Tell = Callable[["Dealer"], None]
_SAVE_EVERY_S = 1.0


@dataclass(frozen=True)
class Result:
    """What a sweep came to so far: a row for each point."""

    count: str
    rows: list[dict[str, Any]]
    notes: list[str]
    is_done: bool
    seed: int
    lost: int
    """Ranges whose worker died, and which were counted again."""
    hosts: dict[str, dict[str, float]] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def curve(self) -> dvbs2.Curve:
        """Of error rates: as dvbs2.ber() gives it, with its plot()."""
        if self.count != "ber":
            raise _core.WrongUsage(f"a sweep of {self.count} has no curve of error rates: see rows")
        columns = dvbs2._columns(rows_of_curve(self.rows))
        return dvbs2.Curve(columns, self.notes, str(columns["frame"][0]), "tidemill.sweep.run()", self.seed)

    def __repr__(self) -> str:
        return to_text(self.rows, leave_out=("bits", "bits_wrong", "ldpc_iterations_total")) + "\n".join(self.notes)


def run(
    plan: str | os.PathLike[str] | Mapping[str, Any] | Plan,
    *,
    state: str | os.PathLike[str] | None = None,
    resume: bool = False,
    executor: Executor | None = None,
    engine: str | None = None,
    workers: int | None = None,
    tell: Tell | None = None,
) -> Result | None:
    """Counts what a sweep file, a dictionary like one, or what read_plan() made of it asks for.

    state: folder in which the counts are kept while they grow; none: they are not. resume: go on from there.
    executor: any, which hands work to others; else `engine`, one of "processes", "mpi", "ray" and "dask"; else the one
    that the environment asks for. workers: how many; else as many as there are.
    tell: is called about once a second. SIGINT and SIGTERM end a sweep early, with what was counted (is_done says it).

    Returns None on ranks of MPI that were workers. Throws SweepError for a file or a state that cannot be used, WrongUsage
    for settings that cannot be, and JobFailed where the engine or its workers cannot count.
    """
    wanted = read_plan(plan)
    if executor is not None:
        return _run(wanted, engines.handed_in(executor, workers), state, resume, tell)
    with engines.opened(engine, workers) as opened:
        return None if opened is None else _run(wanted, opened, state, resume, tell)


def _run(plan: Plan, engine: Engine, folder: Any, resume: bool, tell: Tell | None) -> Result:
    kept = _Kept(plan, folder, resume)
    try:
        target = kept.target(engine)
        dealer = Dealer(plan, target, tallies_of(plan, kept.points), engine, **kept.done)
        with _interrupts() as interrupted:
            try:
                dealer.run(lambda: kept.look(dealer, tell) and not interrupted)
            finally:
                kept.save(dealer)
        if tell:
            tell(dealer)
        return result_of(plan, dealer)
    finally:
        kept.close()


class _Kept:
    """The state of a sweep, if it has one."""

    def __init__(self, plan: Plan, folder: Any, resume: bool) -> None:
        self.plan = plan
        self.points: list[dict[str, Any]] | None = None
        self.done: dict[str, Any] = {}
        """What was lost, dealt again, and done by whom."""
        self._saved_at = 0.0
        self._target = plan.target
        self._state = None if folder is None else State(folder)
        if self._state is not None and self._state.exists():
            try:
                self._go_on(self._state, resume)
            except BaseException:
                self._state.close()
                raise

    def _go_on(self, state: State, resume: bool) -> None:
        body = read_state(state.folder)
        if not resume and not any(point["counts"] or point["ahead"] for point in body["points"]):
            return  # nothing that could be lost
        if not resume:
            raise SweepError(f"{state.folder}: counts are here already: go on with --resume, or name another --state")
        check_same_sweep(body, self.plan.to_json(), state.folder)
        self.points, self._target = body["points"], body["target"]
        hosts = {name: Host(**host) for name, host in body["hosts"].items()}
        self.done = {"lost": body["lost"], "again": body["again"], "hosts": hosts}

    def target(self, engine: Engine) -> str:
        """The instruction set of all: what the sweep has begun with, or the best that every worker has."""
        if not self._target:
            sets = dvbs2.instruction_sets()
            asked = [] if engine.alike else _asked(engine)
            common = [name for name in sets if all(name in each for each in asked)]
            if not common:
                raise _core.JobFailed("the workers have no instruction set in common: sweep on those of one kind")
            self._target = common[0]
        return self._target

    def look(self, dealer: Dealer, tell: Tell | None) -> bool:
        if time.monotonic() - self._saved_at >= _SAVE_EVERY_S:
            self.save(dealer)
            if tell:
                tell(dealer)
        return True

    def save(self, dealer: Dealer) -> None:
        self._saved_at = time.monotonic()
        if self._state is None:
            return
        body = new_body(self.plan.to_json())
        body |= {
            "build": build_here(),
            "target": self._target,
            "points": [tally.to_json() for tally in dealer.tallies],
            "running": dealer.running(),
            "lost": dealer.lost,
            "again": dealer.again,
            "hosts": {name: asdict(host) for name, host in dealer.hosts.items()},
            "engine": dealer.engine.text,
        }
        self._state.save(body)

    def close(self) -> None:
        if self._state is not None:
            self._state.close()


# As many questions as there may be workers; a worker that was not asked is refused later, if need be.
def _asked(engine: Engine) -> list[list[str]]:
    try:
        futures = [engine.executor.submit(instruction_sets_here, k) for k in range(2 * engine.workers)]
        return [future.result(timeout=120) for future in futures]
    except Exception as error:
        raise _core.JobFailed(f"the engine's workers do not answer: {type(error).__name__}: {error}") from error


def result_of(plan: Plan, dealer: Dealer) -> Result:
    """Of what has been counted so far."""
    rows, notes = _rows(plan, [(tally.said, tally.counts) for tally in dealer.tallies])
    hosts = {name: asdict(host) for name, host in dealer.hosts.items()}
    return Result(plan.count, rows, notes, dealer.is_done, plan.seed, dealer.lost, hosts)


def _rows(plan: Plan, known: list[tuple[dict[str, Any], dict[str, int]]]) -> tuple[list[dict[str, Any]], list[str]]:
    rows = [plan.kind.row(point, said, counts) for point, (said, counts) in zip(plan.points, known, strict=True)]
    notes = dict.fromkeys(note for said, _ in known for note in said.get("notes", []))
    return rows, list(notes)


def status(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What a sweep has done and is doing, from its state, whether it runs or not. Throws SweepError."""
    body = read_state(folder)
    try:
        saved = body["plan"]
        plan = read_plan_of_state(saved)
        points = [(each["said"], each["counts"]) for each in body["points"]]
        rows, notes = _rows(plan, points)
        done = {
            "points_done": sum(tally.is_done for tally in tallies_of(plan, body["points"])),
            "ranges_done": sum(host["ranges"] for host in body["hosts"].values()),
        }
        names = ("engine", "target", "build", "lost", "again", "hosts", "running")
        return {"count": plan.count, "rows": rows, "notes": notes, **done, **{name: body[name] for name in names}}
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise SweepError(f"{folder}: its state is damaged: {error!r}") from None


def read_plan_of_state(saved: Mapping[str, Any]) -> Plan:
    """As to_json() of a plan gave it."""
    from .plan import Cuts

    return Plan(**saved, cuts=Cuts(0, 0))


# In the main thread; elsewhere nothing is asked, and the caller may end the engine.
@contextmanager
def _interrupts() -> Iterator[list[int]]:
    got: list[int] = []
    before = {}

    def note(number: int, _: Any) -> None:
        if got:
            signal.default_int_handler(number, None)
        got.append(number)

    if threading.current_thread() is threading.main_thread():
        before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield got
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
