"""Carriers on heads whose frames helpers decode, over links: what passes, and what lets no more pass.

A discrete-event simulation in which no byte is sent: for more hosts than there are.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from . import _core
from .batches import IN_FLIGHT, Line


@dataclass(frozen=True)
class Link:
    """Of each host, in both directions at once. A host's own memory has neither limit nor delay."""

    bits_per_s: float
    delay_us: float = 0


@dataclass(frozen=True)
class Carrier:
    """What a frame of a carrier takes on one core, and how large it is."""

    symbols: int
    rest_us: float
    """Of all tasks but decoding, together."""
    slowest_us: float
    """Of the slowest task among these that only one core can do at a time."""
    decode_us: float
    """On average."""
    frame_bytes: int
    bbframe_bytes: int
    symbol_rate_hz: float | None = None
    """Of what comes in; None: as much as can be received, from a recording."""
    decode_deviation: float = 0
    """Of one frame's decoding from the average: standard deviation, relative."""


@dataclass(frozen=True)
class Hosts:
    """As many heads as carriers, and helpers for all of them. `sender`, `receiver`: what batches cost either."""

    helpers: int
    head_cores: int
    helper_cores: int
    link: Link
    sender: Line
    receiver: Line
    frames: int
    """Of a batch."""


@dataclass(frozen=True)
class Passed:
    """What the simulation came to. Shares are of the time; the largest one says what lets no more pass."""

    symbol_rate_hz: float
    """Of each carrier, on average."""
    latency_us: float
    """From a batch's first symbol to its packets, on average."""
    shares: dict[str, float]

    @property
    def bound(self) -> str:
        return max(self.shares, key=self.shares.__getitem__)


@dataclass
class _Server:
    """So many at a time, first come, first served."""

    events: _Events
    room: int = 1
    busy_us: float = 0
    waiting: deque[tuple[float, Callable[[], None]]] = field(default_factory=deque)

    def ask(self, us: float, then: Callable[[], None]) -> None:
        self.waiting.append((us, then))
        self._serve()

    def _serve(self) -> None:
        while self.room and self.waiting:
            self.room -= 1
            us, then = self.waiting.popleft()
            self.busy_us += us
            self.events.at(self.events.now_us + us, partial(self._done, then))

    def _done(self, then: Callable[[], None]) -> None:
        self.room += 1
        then()
        self._serve()


class _Events:
    def __init__(self) -> None:
        self.now_us = 0.0
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, us: float, does: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (us, next(self._order), does))

    def run(self) -> None:
        while self._heap:
            self.now_us, _, does = heapq.heappop(self._heap)
            does()


class _Helper:
    def __init__(self, events: _Events, hosts: Hosts) -> None:
        self.comes_in, self.goes_out = _Server(events), _Server(events)
        self.cores = _Server(events, hosts.helper_cores)
        self.out = 0


class _Head:
    """One carrier: batches out to the helper that has the fewest, and back in order."""

    def __init__(
        self, events: _Events, hosts: Hosts, carrier: Carrier, helpers: list[_Helper], chance: random.Random
    ) -> None:
        self._events, self._hosts, self._carrier, self._helpers = events, hosts, carrier, helpers
        self._chance = chance
        self.receiving = _Server(events)
        self.sending = self.receiving if hosts.head_cores == 1 else _Server(events)
        self.comes_in, self.goes_out = _Server(events), _Server(events)
        self.finished_at: list[float] = []
        self.latencies: list[float] = []
        self._begun: list[float] = []
        self._back: set[int] = set()
        # So many that no helper need wait for the head.
        self._most = IN_FLIGHT * hosts.helper_cores * len(helpers)
        self._count = 0
        self._sent = 0

    @property
    def period_us(self) -> float:
        """From batch to batch, of what the head can receive or is given."""
        carrier, frames = self._carrier, self._hosts.frames
        own = frames * max(carrier.slowest_us, carrier.rest_us / self._hosts.head_cores)
        given = 0 if carrier.symbol_rate_hz is None else 1e6 * frames * carrier.symbols / carrier.symbol_rate_hz
        return max(own, given)

    def run(self, batches: int) -> None:
        self._count = batches
        self._receive()

    def _receive(self) -> None:
        may = len(self._begun) < self._count and len(self._begun) - len(self.finished_at) < self._most
        if may and self.receiving.room:
            self._begun.append(self._events.now_us)
            self.receiving.ask(self.period_us, self._received)

    def _received(self) -> None:
        size = self._hosts.frames * self._carrier.frame_bytes
        number, self._sent = self._sent, self._sent + 1
        self.sending.ask(self._hosts.sender.of(size), lambda: self._send(number, size))
        self._receive()

    def _send(self, number: int, size: int) -> None:
        self._receive()
        helper = min(self._helpers, key=lambda each: each.out)
        helper.out += 1
        self._carry(self.goes_out, helper.comes_in, size, lambda: self._decode(number, size, helper))

    def _decode(self, number: int, size: int, helper: _Helper) -> None:
        us = self._decoding_us() + self._hosts.receiver.of(size)
        back = self._hosts.frames * self._carrier.bbframe_bytes

        def done() -> None:
            helper.out -= 1
            self._carry(helper.goes_out, self.comes_in, back, lambda: self._come_back(number))

        helper.cores.ask(us, done)

    # Frames take their time independently of each other; none takes less than half of the average.
    def _decoding_us(self) -> float:
        frames, deviation = self._hosts.frames, self._carrier.decode_deviation
        drawn = self._chance.gauss(1, deviation / frames**0.5) if deviation else 1.0
        return frames * self._carrier.decode_us * max(drawn, 0.5)

    # The first byte need not wait for the last one: both ends are busy at the same time.
    def _carry(self, out: _Server, to: _Server, size: int, then: Callable[[], None]) -> None:
        us = 8e6 * size / self._hosts.link.bits_per_s
        ends = [out, to]

        def passed() -> None:
            ends.pop()
            if not ends:
                self._events.at(self._events.now_us + self._hosts.link.delay_us, then)

        for end in tuple(ends):
            end.ask(us, passed)

    def _come_back(self, number: int) -> None:
        self._back.add(number)
        while len(self.finished_at) in self._back:
            self._back.remove(len(self.finished_at))
            self.latencies.append(self._events.now_us - self._begun[len(self.finished_at)])
            self.finished_at.append(self._events.now_us)
        self._receive()


def simulate(carriers: list[Carrier], hosts: Hosts, batches: int = 200, seed: int = 0) -> Passed:
    """Of each carrier so many batches, of which the first tenth does not count. The same question, the same answer."""
    if not carriers or hosts.helpers < 1 or batches < 20:
        raise _core.WrongUsage("give one carrier and one helper at least, and 20 batches or more")
    events = _Events()
    helpers = [_Helper(events, hosts) for _ in range(hosts.helpers)]
    heads = [_Head(events, hosts, carrier, helpers, random.Random(f"{seed} {k}")) for k, carrier in enumerate(carriers)]
    for head in heads:
        head.run(batches)
    events.run()
    return _passed(carriers, hosts, heads, helpers, events.now_us)


def _passed(carriers: list[Carrier], hosts: Hosts, heads: list[_Head], helpers: list[_Helper], end_us: float) -> Passed:
    rates = []
    for carrier, head in zip(carriers, heads, strict=True):
        first = len(head.finished_at) // 10
        us = (head.finished_at[-1] - head.finished_at[first]) / (len(head.finished_at) - 1 - first)
        rates.append(1e6 * hosts.frames * carrier.symbols / us)
    latencies = [each for head in heads for each in head.latencies[len(head.latencies) // 10 :]]
    receiving = "a head's one core" if hosts.head_cores == 1 else "what heads receive in order"
    shares = {
        receiving: max(head.receiving.busy_us for head in heads),
        "what heads send": max(head.sending.busy_us for head in heads) if hosts.head_cores > 1 else 0,
        "links out of heads": max(head.goes_out.busy_us for head in heads),
        "links into helpers": max(helper.comes_in.busy_us for helper in helpers),
        "helpers' cores": sum(helper.cores.busy_us for helper in helpers) / len(helpers) / hosts.helper_cores,
        "links into heads": max(head.comes_in.busy_us for head in heads),
    }
    shares = {name: us / end_us for name, us in shares.items()}
    return Passed(sum(rates) / len(rates), sum(latencies) / len(latencies), shares)
