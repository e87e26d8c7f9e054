"""Deals ranges to an engine's workers, and takes what comes back; what is lost is dealt again."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from .engines import Engine
from .kinds import Range
from .plan import Plan
from .settings import SweepError
from .tally import Tally
from .work import Answer, Order, build_here, count_range

_EACH_HAS = 2
"""Ranges that a worker has: one to count, and the next, so that it need not wait."""
_FIRST_SECONDS = 0.1
_STALLED_AFTER = 20
"""A range that takes so many times what ranges should take, and a minute, is dealt again."""
_TRIES = 4


@dataclass
class Host:
    """What the workers of a host have done."""

    ranges: int = 0
    numbers: int = 0
    seconds: float = 0
    cpu_seconds: float = 0


@dataclass
class _Flight:
    point: int
    range_: Range
    since: float
    passed_by: bool = False


@dataclass
class Dealer:
    """One sweep's work, from an engine's view."""

    plan: Plan
    target: str
    tallies: list[Tally]
    engine: Engine
    lost: int = 0
    again: int = 0
    hosts: dict[str, Host] = field(default_factory=dict)
    _flying: dict[Future[Answer], _Flight] = field(default_factory=dict)
    _tries: dict[tuple[int, int], int] = field(default_factory=dict)
    _seconds_per_number: dict[int, float] = field(default_factory=dict)

    def run(self, look: Callable[[], bool]) -> None:
        """Until all points are done, or `look`, which is asked about once a second, says no.

        Throws what counting throws, and JobFailed where a worker may not count, or a range is lost again and again.
        """
        try:
            while not self.is_done and look():
                self._fill()
                done, _ = wait(self._flying, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    self._land(future, self._flying.pop(future))
        finally:
            for future in self._flying:
                future.cancel()
            self._flying.clear()  # nobody waits for them

    @property
    def is_done(self) -> bool:
        return all(tally.is_done for tally in self.tallies)

    def running(self) -> list[list[float]]:
        """Point, first number, length and seconds so far of each range that is out."""
        now = time.monotonic()
        return [[f.point, f.range_.first, f.range_.length, round(now - f.since, 1)] for f in self._flying.values()]

    def _fill(self) -> None:
        self._pass_by()
        while len(self._flying) < _EACH_HAS * self.engine.workers:
            dealt = self._next_range()
            if dealt is None:
                return
            self._give(*dealt)

    # Takes the open point that is nearest to its end: so little is counted that turns out not to be needed.
    def _next_range(self) -> tuple[int, Range] | None:
        out = [0] * len(self.tallies)
        for flight in self._flying.values():
            out[flight.point] += 1
        order = [(not tally.again, out[k] + len(tally.ahead), k) for k, tally in enumerate(self.tallies)]
        for _, _, k in sorted(order):
            range_ = self.tallies[k].deal(self._length(k))
            if range_ is not None:
                return k, range_
        return None

    def _length(self, k: int) -> int:
        if self.plan.cuts.numbers:
            return self.plan.cuts.numbers
        known = self._seconds_per_number.get(k)
        return 1 if known is None else max(int(self.plan.cuts.seconds / known), 1)

    def _give(self, k: int, range_: Range) -> None:
        plan = self.plan
        order = Order(plan.count, plan.points[k], plan.seed, self.target, range_, build_here())
        try:
            future = self.engine.executor.submit(count_range, order)
        except Exception as error:
            raise _core.JobFailed(f"the engine has gone away: {error}") from error
        self._flying[future] = _Flight(k, range_, time.monotonic())

    def _land(self, future: Future[Answer], flight: _Flight) -> None:
        try:
            answer = future.result()
        except _core.Error:
            raise
        except BaseException as error:  # what is lost is lost, whatever the engine calls it
            if isinstance(error, KeyboardInterrupt):
                raise
            self._lose(flight, error)
            return
        if answer.refused:
            raise _core.JobFailed(f"the worker on {answer.host} cannot count here: {answer.refused}")
        self._note(flight, answer)
        self.tallies[flight.point].take(flight.range_, answer.counts, answer.said)

    def _note(self, flight: _Flight, answer: Answer) -> None:
        numbers = answer.counts.get(self.plan.kind.numbers, 0)
        host = self.hosts.setdefault(answer.host, Host())
        host.ranges += 1
        host.numbers += numbers
        host.seconds += answer.seconds
        host.cpu_seconds += answer.cpu_seconds
        if numbers > 0:
            # The first range of a worker also pays for what it makes once: no range grows more than eightfold.
            now = answer.seconds / numbers
            slowest = self.plan.cuts.seconds / (8 * numbers)
            self._seconds_per_number[flight.point] = max(now, slowest)

    def _lose(self, flight: _Flight, error: BaseException) -> None:
        self.lost += 1
        place = (flight.point, flight.range_.first)
        self._tries[place] = self._tries.get(place, 0) + 1
        if self._tries[place] >= _TRIES:
            raise _core.JobFailed(
                f"{self.plan.kind.numbers} {flight.range_.first} to {flight.range_.first + flight.range_.length} of "
                f"point {flight.point + 1} were lost {_TRIES} times: {_reason(error)}"
            ) from error
        self._deal_again(flight)

    def _deal_again(self, flight: _Flight) -> None:
        if not flight.passed_by:
            self.again += 1
            self.tallies[flight.point].give_up(flight.range_)

    def _pass_by(self) -> None:
        now = time.monotonic()
        patience = max(60, _STALLED_AFTER * self.plan.cuts.seconds)
        for flight in self._flying.values():
            if not self.plan.cuts.numbers and not flight.passed_by and now - flight.since > patience:
                self._deal_again(flight)
                flight.passed_by = True


def _reason(error: BaseException) -> str:
    text = str(error).splitlines()
    why = f"{type(error).__name__}: {text[0] if text else ''}"
    return f"{why} (was a worker killed, or is there too little memory?)"


def dealer(plan: Plan, target: str, engine: Engine, tallies: list[Tally]) -> Dealer:
    """Of a sweep that begins or goes on."""
    return Dealer(plan, target, tallies, engine)


def tallies_of(plan: Plan, saved: list[dict[str, Any]] | None) -> list[Tally]:
    """Throws SweepError for saved points that are not those of the plan."""
    tallies = [Tally(plan.kind, plan.kind.step(point), plan.most, plan.events) for point in plan.points]
    if saved is not None and len(saved) != len(tallies):
        raise SweepError(f"the state is damaged: it has {len(saved)} points of {len(tallies)}: move it away, and count anew")
    for tally, each in zip(tallies, saved or [], strict=bool(saved)):
        tally.go_on(each)
    return tallies
