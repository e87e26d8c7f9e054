"""Frames decoded by one helper: how near that comes to what head and helper could do at best, and to the forecast."""

from __future__ import annotations

import io
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import _core, dvbs2, remote
from ..remote.calibrate import measure
from ..remote.cost import Cut, Work, choose, forecast
from ..remote.work import Batch, decoded
from ..sweep.engines import Engine

MODCOD, ESN0_DB = "QPSK 1/2", 1.0
"""Its threshold, where decoding takes as long as all else."""
PACKETS_A_FRAME = 21.4


@contextmanager
def one_core_each(engine: Engine) -> Iterator[None]:
    """Of this machine, for head and helper; a helper that is not this engine's own process has what it was started with."""
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        raise _core.JobFailed("head and helper need a core each")
    first, second = sorted(cores)[:2]
    if engine.alike:
        engine.executor.submit(os.sched_setaffinity, 0, {second}).result()
    os.sched_setaffinity(0, {first})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def bench_decoding(name: str, engine: Engine, recording: Path, rounds: int) -> None:
    packets = dvbs2.receive(recording, executor="sequence").packets.tobytes()
    cost = measure(engine, name)
    received(engine, recording, remote.BATCH_BYTES)  # helpers begin
    seen: list[tuple[float, float, float]] = []
    cut = Cut(0, 0, 0, 0, "")
    for _ in range(rounds):
        work = shares(recording)
        cut = choose(cost, work).cut or forecast(cost, work, 4)
        taken_us, stream = received(engine, recording, cut.bytes)
        if stream != packets:
            raise _core.JobFailed("other packets than the receiver's")
        ceiling_us = max(work.rest_us, work.decode_us)
        seen.append((ceiling_us / taken_us, cut.period_us / taken_us, taken_us))
        print(
            f"{MODCOD} at {ESN0_DB} dB, {name}:1: shares {work.rest_us:.0f} and {work.decode_us:.0f} us, here "
            f"{work.here_us:.0f}; in batches of {cut.frames} {taken_us:.0f} us, forecast {cut.period_us:.0f} ({cut.bound})",
            flush=True,
        )
    ratios, forecasts = [row[0] for row in seen], [row[1] for row in seen]
    print(
        f"{name}: {statistics.median(ratios):.2f} of the ceiling ({min(ratios):.2f} to {max(ratios):.2f}); "
        f"forecast over measured {statistics.median(forecasts):.2f} ({rounds} rounds)"
    )


def shares(recording: Path) -> Work:
    """What a frame takes of this core: up to its soft bits, and its decoding; each alone."""
    batches: list[Batch] = []

    def take(*arrays: Any) -> int:
        batches.append(Batch(*arrays))
        return remote.BATCH_BYTES

    options = dvbs2._reception(
        recording, format=None, sample_rate_hz=None, symbol_rate_hz=None, offset_hz=None, rolloff=0.20, gold_code=0
    )
    began = time.process_time()
    _core.receive_llrs(options, take, batch_bytes=remote.BATCH_BYTES)
    demapped = time.process_time()
    for batch in batches:
        decoded(batch)
    done = time.process_time()
    frames = sum(map(len, batches))
    each = 1e6 / frames
    return Work((demapped - began) * each, (done - demapped) * each, sum(b.llrs.nbytes for b in batches) // frames)


def received(engine: Engine, recording: Path, batch_bytes: int) -> tuple[float, bytes]:
    """Microseconds a frame, and the stream."""
    to = io.BytesIO()
    began = time.perf_counter()
    report = remote.receive(recording, to, executor=engine.executor, workers=1, batch_bytes=batch_bytes)
    taken = time.perf_counter() - began
    if report.frames_here or report.failure:
        raise _core.JobFailed(f"frames were decoded here: {report.failure}")
    return 1e6 * taken / report.frames, to.getvalue()
