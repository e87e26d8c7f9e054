"""What is known of one point: ranges are added up in the order of their numbers, whoever finished first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .kinds import Counts, Kind, Range, add
from .settings import SweepError


@dataclass
class Tally:
    """Counts of the numbers from 0 to `next`, and of ranges ahead of it that others have finished already."""

    kind: Kind
    step: int
    most: int
    events: int | None
    counts: Counts = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    ahead: dict[int, tuple[Range, Counts]] = field(default_factory=dict)
    dealt: int = 0
    """Numbers that have been given out, or are known."""
    again: list[Range] = field(default_factory=list)
    """To be given out before any new one."""

    @property
    def next(self) -> int:
        return self.counts.get(self.kind.numbers, 0)

    @property
    def wanted(self) -> int | None:
        """Events that are missing; None: no number of them ends the count."""
        if self.events is None or self.kind.events is None:
            return None
        return self.events - self.counts.get(self.kind.events, 0)

    @property
    def is_done(self) -> bool:
        return self.next >= self.most or (self.wanted is not None and self.wanted <= 0)

    def deal(self, length: int) -> Range | None:
        """The next range to be counted, of about that length; None when all has been given out."""
        if self.is_done:
            return None
        if self.again:
            return self.again.pop(0)
        steps = max(length // self.step, 1)
        length = min(steps * self.step, self.most - self.dealt)
        if length <= 0:
            return None
        self.dealt += length
        return Range(self.dealt - length, length, self.wanted)

    def take(self, range_: Range, counts: Counts, said: dict[str, Any]) -> None:
        """Of a range that was dealt. One that had been given up and is back after all changes nothing."""
        self.said = self.said or said
        if range_.first >= self.next and not self.is_done:
            self.again = [each for each in self.again if each != range_]
            self.ahead[range_.first] = (range_, counts)
            self._add_up()

    def give_up(self, range_: Range) -> None:
        """A worker was lost: somebody else has to count it."""
        if range_.first >= self.next and range_.first not in self.ahead:
            self.again.append(range_)

    def _add_up(self) -> None:
        while not self.is_done and (found := self.ahead.pop(self.next, None)):
            range_, counts = found
            wanted = self.wanted
            if wanted is not None and range_.limit != wanted and self._events_of(counts) >= wanted:
                # Enough of them lie in here, but where the last one that counts does, only a new count shows.
                self.again.insert(0, Range(range_.first, range_.length, wanted))
                return
            add(self.counts, counts)
        if self.is_done:
            self.ahead.clear()
            self.again.clear()

    def _events_of(self, counts: Counts) -> int:
        return counts.get(self.kind.events or "", 0)

    def to_json(self) -> dict[str, Any]:
        ahead = [[r.first, r.length, r.limit, counts] for r, counts in self.ahead.values()]
        return {"counts": self.counts, "said": self.said, "ahead": ahead}

    def go_on(self, saved: dict[str, Any]) -> None:
        """With what to_json() gave, as read_state() lets it through. Throws SweepError for what no sweep comes to."""
        self.counts, self.said = dict(saved["counts"]), dict(saved["said"])
        self.ahead = {first: (Range(first, length, limit), c) for first, length, limit, c in saved["ahead"]}
        self._fill_gaps()

    # Ranges between those ahead were being counted when the sweep ended.
    def _fill_gaps(self) -> None:
        self.dealt = self.next
        for range_, _ in sorted(self.ahead.values(), key=lambda each: each[0].first):
            if not 0 <= self.dealt <= range_.first:
                raise SweepError("the state is damaged: it has counted frames twice: move it away, and count anew")
            if range_.first > self.dealt:
                self.again.append(Range(self.dealt, range_.first - self.dealt, self.wanted))
            self.dealt = range_.first + range_.length
        self._add_up()
