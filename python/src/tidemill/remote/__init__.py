"""A reception whose decoding is done elsewhere: on other processes, or on the hosts of a cluster.

`receive()` is what `tidemill remote-rx` does; docs/many-machines.md of the source teaches both.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

from .. import _core, dvbs2
from ..batches import IN_FLIGHT
from ..sweep import engines
from .calibrate import measure
from .cost import EngineCost
from .output import Output, output_file
from .rehearsal import Rehearsal
from .work import Batch, Decoded, decoded, why_not

__all__ = ["EngineCost", "RemoteReport", "receive"]

_TRIES = 4
BATCH_BYTES = 1 << 18
"""Of a batch where nobody says and no cost is known: some four normal frames."""
MOST_BATCH_BYTES = 1 << 26


@dataclass
class RemoteReport:
    """What a reception came to, and who decoded."""

    frames: int = 0
    frames_bad: int = 0
    gaps: int = 0
    ts_packets: int = 0
    ldpc_iterations: int = 0
    locks: int = 0
    """Times that frames were found, the first included."""
    batches: int = 0
    batches_again: int = 0
    """Given out again: their helper died, or took too long."""
    frames_here: int = 0
    """Decoded by this process, because no helper could."""
    failure: str = ""
    """Why helpers decode no more; empty: they did to the end."""
    engine: str = ""
    decision: str = ""
    """Where decoding was decided to be, and why; empty: nobody asked."""
    batch_frames: int = 0
    """That the decision found best; 0: it found no cut worth it, or nobody asked."""
    forecast_us: float | None = None
    """From frame to frame, of that."""


def receive(
    recording: str | os.PathLike[str],
    output: str | os.PathLike[str] | Output,
    *,
    executor: Executor | None = None,
    engine: str = "processes",
    workers: int | None = None,
    batch_bytes: int | None = None,
    cost: EngineCost | Literal["measure"] | None = None,
    latency_us: float | None = None,
    patience_s: float = 30,
    tell: Callable[[str], None] | None = None,
    **wishes: Any,
) -> RemoteReport:
    """Receives a recording, with its frames decoded by others; packets come out in order, as of tidemill dvbs2 rx.

    output: a path, or a binary file. executor: who decodes; else `engine`, "processes", "ray" or "dask", with so many
    `workers`. batch_bytes: of soft bits that are sent at a time, about. cost: what the engine costs; then the first frames
    are decoded here, and the others by helpers only where that is faster, in batches of the best size, which are back
    within `latency_us`. patience_s: a helper that has a batch for longer is passed by. tell: is called with a line when
    that is decided, and when helpers decode no more. wishes: format, sample_rate_hz, symbol_rate_hz, offset_hz, rolloff,
    gold_code, as dvbs2.receive() takes them.

    Where helpers cannot go on, what is left is decoded here. Throws IoError, WrongUsage and JobFailed as dvbs2.receive()
    does, and JobFailed where the engine cannot be had at all.
    """
    if engine == "mpi":
        raise _core.WrongUsage("a world of MPI dies with a rank, and cannot keep a stream: give processes, ray or dask")
    _check(batch_bytes, cost, latency_us, patience_s)
    if not os.path.exists(recording):
        raise _core.IoError(f"cannot open {os.fspath(recording)!r}: name a file (what streams in, tidemill dvbs2 rx receives)")
    given: dict[str, Any] = {"format": None, "sample_rate_hz": None, "symbol_rate_hz": None, "offset_hz": None}
    options = dvbs2._reception(recording, **{**given, "rolloff": 0.20, "gold_code": 0, **wishes})
    with ExitStack() as stack:
        used = engines.handed_in(executor, workers) if executor else stack.enter_context(engines.opened(engine, workers))
        assert used is not None
        known = measure(used, engine) if cost == "measure" else cost and _fitting(cost, engine, used.workers)
        to = stack.enter_context(output_file(output, recording)) if isinstance(output, (str, os.PathLike)) else output
        rehearsal = Rehearsal(known, latency_us) if known else None
        stream = _Stream(used, to, patience_s, tell, batch_bytes or BATCH_BYTES, rehearsal)
        stream.report.locks = _core.receive_llrs(options, stream.take, batch_bytes=batch_bytes or BATCH_BYTES)
        return stream.ended()


def _check(batch_bytes: int | None, cost: object, latency_us: float | None, patience_s: float) -> None:
    if not 1 <= (batch_bytes or BATCH_BYTES) <= MOST_BATCH_BYTES or batch_bytes == 0 or not 0 < patience_s <= 1e6:
        raise _core.WrongUsage(f"batch_bytes: give 1 to {MOST_BATCH_BYTES}; patience_s: above 0, to 1000000")
    if cost is not None and batch_bytes is not None:
        raise _core.WrongUsage("batch_bytes: the engine's cost finds the best one: give one of the two")
    if latency_us is not None and (cost is None or not latency_us > 0):
        raise _core.WrongUsage("latency_us: give more than 0, and the engine's cost, from which latencies follow")


def _fitting(cost: EngineCost, engine: str, workers: int) -> EngineCost:
    if (cost.engine, cost.workers) != (engine, workers):
        raise _core.WrongUsage(
            f"the model is of {cost.engine}:{cost.workers}, not of {engine}:{workers}: "
            f"tidemill calibrate --engine {engine}:{workers}"
        )
    return cost


@dataclass
class _Sent:
    batch: Batch
    future: Future[Decoded]
    tries: int = 1


class _Stream:
    """Batches out, at most so many at a time; frames back, in order."""

    def __init__(
        self, engine: engines.Engine, to: Output, patience_s: float, tell: Any, batch_bytes: int, rehearsal: Rehearsal | None
    ) -> None:
        self.report = RemoteReport(engine=engine.text)
        self._engine = engine
        self._to = to
        self._patience_s = patience_s
        self._tell = tell
        self._sorter = _core.PacketSorter()
        self._flying: deque[_Sent] = deque()
        self._most = IN_FLIGHT * engine.workers
        self._raised: BaseException | None = None
        self._batch_bytes = batch_bytes
        self._helped = True
        self._rehearsal = rehearsal

    def take(self, pls_codes: Any, gaps: Any, llrs: Any) -> int:
        """Of the receiver: a batch for the decoder. What goes wrong here is raised by ended().

        Returns how many bytes the next one is to have, about; 0: the receiver is to end.
        """
        try:
            batch = Batch(pls_codes, gaps, llrs)
            if self._rehearsal is not None:
                self._rehearse(batch, self._rehearsal)
            else:
                self._send(batch)
            while self._flying and (len(self._flying) >= self._most or self._flying[0].future.done()):
                self._land(self._flying.popleft())
        except BaseException as error:
            self._raised = error
            return 0
        return self._batch_bytes

    def ended(self) -> RemoteReport:
        """Waits for what is out. Throws what went wrong on the way."""
        if self._raised:
            raise self._raised
        while self._flying:
            self._land(self._flying.popleft())
        self._sorter.finish()
        self._write()
        if self.report.ts_packets == 0:
            raise _core.JobFailed(f"no packets: {self.report.frames} frames found, {self.report.frames_bad} of them bad")
        return self.report

    def _rehearse(self, batch: Batch, rehearsal: Rehearsal) -> None:
        self.report.frames_here += len(batch)
        self._add_up(batch, rehearsal.decode(batch))
        if not rehearsal.is_done:
            return
        self._rehearsal = None
        choice = rehearsal.choice()
        self.report.decision = choice.why
        self._helped = choice.cut is not None
        if choice.cut is not None:
            self.report.batch_frames, self.report.forecast_us = choice.cut.frames, choice.cut.period_us
            self._batch_bytes = choice.cut.bytes
        if self._tell:
            self._tell(choice.why)

    def _send(self, batch: Batch) -> None:
        self.report.batches += 1
        self._flying.append(_Sent(batch, self._submitted(batch)))

    # A future in any case: where there are no helpers any more, of what this process does.
    def _submitted(self, batch: Batch) -> Future[Decoded]:
        if self._helped:
            try:
                return self._engine.executor.submit(decoded, batch)
            except Exception as error:
                self._give_up(f"{type(error).__name__}: {error}")
        self.report.frames_here += len(batch)
        future: Future[Decoded] = Future()
        future.set_result(decoded(batch))
        return future

    def _give_up(self, why: str) -> None:
        self.report.failure = why
        self._helped = False
        if self._tell:
            self._tell(f"helpers decode no more, the rest is decoded here: {why}")

    def _land(self, sent: _Sent) -> None:
        answer = self._answer(sent)
        while answer is None:
            self.report.batches_again += 1
            sent = _Sent(sent.batch, self._submitted(sent.batch), sent.tries + 1)
            answer = self._answer(sent)
        self._add_up(sent.batch, answer)

    # None: it has to be decoded once more.
    def _answer(self, sent: _Sent) -> Decoded | None:
        try:
            answer = sent.future.result(timeout=self._patience_s)
        except FutureTimeout:
            why = f"a helper took more than {self._patience_s:g} s for a batch"
        except (_core.Error, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the engine calls it
            why = f"{type(error).__name__}: {error}"
        else:
            why = why_not(sent.batch, answer)
            if not why:
                return answer
            self._give_up(f"what a helper sent cannot be used: {why}")
        if sent.tries >= _TRIES and not self.report.failure:
            self._give_up(f"a batch was lost {_TRIES} times: {why}")
        return None

    def _add_up(self, batch: Batch, answer: Decoded) -> None:
        content, at = answer.bbframes.tobytes(), 0
        for code, gap, good in zip(batch.pls_codes.tolist(), batch.gaps.tolist(), answer.good.tolist(), strict=True):
            if gap:
                self.report.gaps += int(self.report.frames > 0)
                self._sorter.lose()
            self.report.frames += 1
            if good:
                size = _core.bbframe_bytes(code)
                self._sorter.push(content[at : at + size])
                at += size
            else:
                self.report.frames_bad += 1
                self._sorter.lose()
        self.report.ldpc_iterations += int(answer.ldpc_iterations.sum())
        self._write()

    def _write(self) -> None:
        packets = self._sorter.take()
        self.report.ts_packets += len(packets) // 188
        try:
            self._to.write(packets)
        except OSError as error:
            raise _core.JobFailed(f"the packets cannot be written: {error.strerror}") from None
