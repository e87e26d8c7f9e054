"""`tidemill bench engine`: what an engine costs to carry batches of soft bits, and what decoding there comes to.

Each is beside its baseline in the same run: a bare socket; what head and helper could do at best; the forecast.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..figures.figure import Note
from ..program import DONE, new_parser, run_program
from ..sweep import engines
from ..sweep.engines import Engine
from .decoding import ESN0_DB, MODCOD, PACKETS_A_FRAME, bench_decoding, one_core_each
from .recordings import put_recording
from .two_hosts import NoHosts
from .wire import bench_wire

SIZES = {"0.25 MB": 1 << 18, "1 MB": 1 << 20, "4 MB": 1 << 22}
BYTES = 64 << 20


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    parser = new_parser("bench engine", __doc__ or "")
    parser.add_argument("--engine", action="append", choices=["processes", "ray", "dask"], help="(default: processes)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of each, in turns (default: 5)")
    parser.add_argument("--frames", type=int, default=1000, metavar="N", help="of the recording (default: 1000)")
    parser.add_argument("--only", choices=["carry", "decode", "wire"], help="(default: all)")
    return run_program(parser, _bench, words)


def _bench(given: argparse.Namespace) -> int:
    print(Note("tidemill bench engine", seed=1))
    parts = [given.only] if given.only else ["carry", "decode", "wire"]
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        opened = {name: stack.enter_context(engines.opened(name, 1)) for name in given.engine or ["processes"]}
        recording = Path(folder, "near.sigmf-meta")
        if parts != ["carry"]:
            put_recording(recording, MODCOD, int(PACKETS_A_FRAME * given.frames), ESN0_DB)
        for name, engine in opened.items():
            assert engine is not None
            if "carry" in parts:
                _bench_carrying(name, engine, given.rounds)
            if "decode" in parts:
                with one_core_each(engine):
                    bench_decoding(name, engine, recording, given.rounds)
        if "wire" in parts:
            _bench_wire(recording, given.rounds)
    return DONE


# It needs more than a machine has everywhere.
def _bench_wire(recording: Path, rounds: int) -> None:
    try:
        bench_wire(recording, rounds)
    except NoHosts as none:
        print(f"Skipped, a cut over a wire: {none}")


def _bench_carrying(name: str, engine: Engine, rounds: int) -> None:
    for label, size in SIZES.items():
        batch = np.zeros(size, np.int8)
        _through(engine, batch)
        results = [(*_through(engine, batch), _over_socket(batch)) for _ in range(rounds)]
        speed, sender, helper, alone, bare = (statistics.median(column) for column in zip(*results, strict=True))
        print(
            f"{label}, {name}: {speed:.2f} GB/s (socket {bare:.2f}), {sender * 1e6:.0f} us of the sender's processor, "
            f"{helper * 1e6:.0f} us of the helper's and {alone * 1e6:.0f} us per batch"
        )


@dataclass(frozen=True)
class _Seen:
    """What a helper has got, and its processor seconds so far."""

    size: int
    cpu_s: float


def _seen(batch: NDArray[np.int8]) -> _Seen:
    return _Seen(len(batch), time.process_time())


def _through(engine: Engine, batch: NDArray[np.int8]) -> tuple[float, float, float, float]:
    """GB/s with two batches in flight, processor seconds a batch of sender and helper, and the median seconds of one alone."""
    count, flying, answers = BYTES // len(batch), deque[Future[_Seen]](), []
    cpu, began = _sender_cpu_s(engine), time.perf_counter()
    for _ in range(count):
        flying.append(engine.executor.submit(_seen, batch))
        if len(flying) == 2:
            answers.append(flying.popleft().result())
    answers += [future.result() for future in flying]
    taken, cpu = time.perf_counter() - began, _sender_cpu_s(engine) - cpu
    if any(answer.size != len(batch) for answer in answers):
        raise _core.JobFailed(f"a batch of {len(batch)} bytes came as one of others")
    helper = (answers[-1].cpu_s - answers[0].cpu_s) / (count - 1)
    alone = []
    for _ in range(10):
        began = time.perf_counter()
        engine.executor.submit(_seen, batch).result()
        alone.append(time.perf_counter() - began)
    return BYTES / taken / 1e9, cpu / count, helper, statistics.median(alone)


# With the process beside it, where the engine has one.
def _sender_cpu_s(engine: Engine) -> float:
    beside = getattr(engine.executor, "cpu_s", None)
    return time.process_time() + (beside() if beside else 0)


def _over_socket(batch: NDArray[np.int8]) -> float:
    """The same between two threads over TCP on this machine, with a byte back for each batch, in GB/s."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        reader = threading.Thread(target=_read_batches, args=(server, len(batch)))
        reader.start()
        with socket.create_connection(server.getsockname()) as sender:
            began = time.perf_counter()
            for _ in range(BYTES // len(batch)):
                sender.sendall(batch.data)
            for _ in range(BYTES // len(batch)):
                sender.recv(1)
            taken = time.perf_counter() - began
        reader.join()
    return BYTES / taken / 1e9


def _read_batches(server: socket.socket, size: int) -> None:
    taker, _ = server.accept()
    buffer = bytearray(size)
    with closing(taker):
        for _ in range(BYTES // size):
            view = memoryview(buffer)
            while len(view) > 0:
                view = view[taker.recv_into(view) :]
            taker.sendall(b"k")


if __name__ == "__main__":
    sys.exit(main())
