"""Measures what an engine costs: `tidemill calibrate --engine`."""

from __future__ import annotations

import os
import statistics
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..batches import IN_FLIGHT, Line
from ..sweep.engines import Engine
from .cost import EngineCost
from .work import Batch

_SIZES = (1 << 16, 1 << 18, 1 << 20)
_SOFT_BITS_A_BIT = 16
"""About as many bytes go out as soft bits as come back as BBFRAMEs, for each one of these."""
_FRAME_BYTES = 64800
_ROUNDS = 3
_BATCHES_A_HELPER = 12


@dataclass(frozen=True)
class Carried:
    """What a helper sends back: as much as frames would be, who it is, its cores, and its processor time so far."""

    bbframes: NDArray[np.uint8]
    helper: str
    cores: set[int]
    cpu_seconds: float


def carried(batch: Batch) -> Carried:
    """All that decoding costs but the decoding."""
    bbframes = np.zeros(len(batch.llrs) // _SOFT_BITS_A_BIT, np.uint8)
    return Carried(bbframes, f"{os.uname().nodename} {os.getpid()}", os.sched_getaffinity(0), time.process_time())


@dataclass(frozen=True)
class _Seen:
    head_us: float
    helper_us: float
    carry_us: float
    latency_us: float


def measure(engine: Engine, name: str) -> EngineCost:
    """In a second or so. Throws JobFailed where helpers do not answer."""
    try:
        seen = [_at(engine, _batch_of(size)) for size in _SIZES]
    except _core.Error:
        raise
    except Exception as error:
        raise _core.JobFailed(f"the engine's helpers do not answer: {type(error).__name__}: {error}") from error
    lines = {field: _line([getattr(each, f"{field}_us") for each in seen]) for field in ("head", "helper", "carry", "latency")}
    return EngineCost(name, engine.workers, _cores(engine) if engine.alike else 0, **lines)


# Of this process, and of its helpers beside it.
def _cores(engine: Engine) -> int:
    answers = _stream(engine, _batch_of(_SIZES[0]), 2 * engine.workers)
    return len(os.sched_getaffinity(0).union(*(each.cores for each in answers)))


# What frames come in: engines may take another way with it than with an array alone.
def _batch_of(size: int) -> Batch:
    frames = -(-size // _FRAME_BYTES)
    return Batch(np.zeros(frames, np.uint8), np.zeros(frames, np.bool_), np.zeros(size, np.int8))


def _at(engine: Engine, batch: Batch) -> _Seen:
    _stream(engine, batch, 2 * engine.workers)  # helpers begin, and make what they make once
    rounds = [_round(engine, batch) for _ in range(_ROUNDS)]
    return _Seen(*(statistics.median(column) for column in zip(*rounds, strict=True)))


# Processor time is that of batches which come one by one, as they do from a receiver: engines take several that come at once
# together, which costs less.
def _round(engine: Engine, batch: Batch) -> tuple[float, float, float, float]:
    count, began = _BATCHES_A_HELPER * engine.workers, time.perf_counter()
    _stream(engine, batch, count)
    carry_us = 1e6 * (time.perf_counter() - began) / count
    cpu, latencies, answers = time.process_time() + engine.own_cpu_s(), [], []
    for _ in range(count):
        began = time.perf_counter()
        answers += _stream(engine, batch, 1)
        latencies.append(time.perf_counter() - began)
    cpu = time.process_time() + engine.own_cpu_s() - cpu
    return 1e6 * cpu / count, _helper_us(answers), carry_us, 1e6 * statistics.median(latencies)


def _stream(engine: Engine, batch: Batch, count: int) -> list[Carried]:
    flying: deque[Future[Carried]] = deque()
    answers = []
    for _ in range(count):
        if len(flying) == IN_FLIGHT * engine.workers:
            answers.append(flying.popleft().result(timeout=120))
        flying.append(engine.executor.submit(carried, batch))
    return answers + [future.result(timeout=120) for future in flying]


# From one answer of a helper to its next: the work of a batch, its coming and its going.
def _helper_us(answers: list[Carried]) -> float:
    times: dict[str, list[float]] = {}
    for answer in answers:
        times.setdefault(answer.helper, []).append(answer.cpu_seconds)
    used = sum(each[-1] - each[0] for each in times.values())
    batches = sum(len(each) - 1 for each in times.values())
    return 1e6 * used / max(batches, 1)


# Through what was measured, each point as near in proportion as the others; no cost is below 0.
def _line(us: list[float]) -> Line:
    weights = [1 / max(each, 1e-3) for each in us]
    rows = np.array([[w, w * size] for w, size in zip(weights, _SIZES, strict=True)])
    batch_us, byte_us = np.linalg.lstsq(rows, np.ones(len(us)), rcond=None)[0]
    if batch_us < 0:
        return Line(0.0, float(np.mean([each / size for each, size in zip(us, _SIZES, strict=True)])))
    if byte_us < 0:
        return Line(float(np.mean(us)), 0.0)
    return Line(float(batch_us), float(byte_us))
