"""`tidemill bench engine`: what an engine costs to carry batches of soft bits, and what decoding there comes to.

Each is beside its baseline in the same run: a bare socket; what head and helper could do at best; the forecast.
"""

from __future__ import annotations

import argparse
import io
import socket
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, dvbs2, remote
from ..figures.figure import Note
from ..program import DONE, new_parser, run_program
from ..remote.calibrate import measure
from ..remote.cost import Cut, Work, choose, forecast
from ..remote.work import Batch, decoded
from ..sweep import engines
from ..sweep.engines import Engine
from .recordings import put_recording

SIZES = {"0.25 MB": 1 << 18, "1 MB": 1 << 20, "4 MB": 1 << 22}
BYTES = 64 << 20
MODCOD, ESN0_DB = "QPSK 1/2", 1.15
"""Where decoding takes longer than all else, and all frames come."""
PACKETS_A_FRAME = 21.4


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    parser = new_parser("bench engine", __doc__ or "")
    parser.add_argument("--engine", action="append", choices=["processes", "ray", "dask"], help="(default: processes)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of each, in turns (default: 5)")
    parser.add_argument("--frames", type=int, default=400, metavar="N", help="of the recording (default: 400)")
    parser.add_argument("--only", choices=["carry", "decode"], help="(default: both)")
    return run_program(parser, _bench, words)


def _bench(given: argparse.Namespace) -> int:
    print(Note("tidemill bench engine", seed=1))
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        opened = {name: stack.enter_context(engines.opened(name, 1)) for name in given.engine or ["processes"]}
        recording = Path(folder, "near.sigmf-meta")
        if given.only != "carry":
            put_recording(recording, MODCOD, int(PACKETS_A_FRAME * given.frames), ESN0_DB)
        for name, engine in opened.items():
            assert engine is not None
            if given.only != "decode":
                _bench_carrying(name, engine, given.rounds)
            if given.only != "carry":
                _bench_decoding(name, engine, recording, given.rounds)
    return DONE


def _bench_carrying(name: str, engine: Engine, rounds: int) -> None:
    for label, size in SIZES.items():
        batch = np.zeros(size, np.int8)
        _through(engine, batch)
        results = [(*_through(engine, batch), _over_socket(batch)) for _ in range(rounds)]
        speed, cpu, alone, bare = (statistics.median(column) for column in zip(*results, strict=True))
        print(
            f"{label}, {name}: {speed:.2f} GB/s (socket {bare:.2f}), "
            f"{cpu * 1e6:.0f} us of the sender's processor and {alone * 1e6:.0f} us per batch"
        )


def _through(engine: Engine, batch: NDArray[np.int8]) -> tuple[float, float, float]:
    """GB/s with two batches in flight, the sender's processor seconds a batch, and the median seconds of one alone."""
    count, flying = BYTES // len(batch), []
    cpu, began = time.process_time(), time.perf_counter()
    for _ in range(count):
        flying.append(engine.executor.submit(np.size, batch))
        if len(flying) == 2:
            _check_size(flying.pop(0).result(), batch)
    for future in flying:
        _check_size(future.result(), batch)
    taken, cpu = time.perf_counter() - began, time.process_time() - cpu
    alone = []
    for _ in range(10):
        began = time.perf_counter()
        engine.executor.submit(np.size, batch).result()
        alone.append(time.perf_counter() - began)
    return BYTES / taken / 1e9, cpu / count, statistics.median(alone)


def _check_size(found: int, batch: NDArray[np.int8]) -> None:
    if found != len(batch):
        raise _core.JobFailed(f"a batch of {len(batch)} bytes came as one of {found}")


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


def _bench_decoding(name: str, engine: Engine, recording: Path, rounds: int) -> None:
    packets = dvbs2.receive(recording, executor="sequence").packets.tobytes()
    cost = measure(engine, name)
    _received(engine, recording, remote.BATCH_BYTES)  # helpers begin
    seen: list[tuple[float, float, float]] = []
    cut = Cut(0, 0, 0, 0, "")
    for _ in range(rounds):
        work = shares(recording)
        cut = choose(cost, work).cut or forecast(cost, work, 4)
        taken_us, stream = _received(engine, recording, cut.bytes)
        if stream != packets:
            raise _core.JobFailed("other packets than the receiver's")
        ceiling_us = max(work.rest_us, work.decode_us)
        seen.append((ceiling_us / taken_us, cut.period_us / taken_us, taken_us))
        print(
            f"{MODCOD} at {ESN0_DB} dB, {name}:1: shares {work.rest_us:.0f} and {work.decode_us:.0f} us, here "
            f"{work.here_us:.0f}; in batches of {cut.frames} {taken_us:.0f} us, forecast {cut.period_us:.0f} ({cut.bound})",
            flush=True,
        )
    ratio, forecasts = statistics.median(row[0] for row in seen), statistics.median(row[1] for row in seen)
    print(f"{name}: {ratio:.2f} of the ceiling; forecast over measured {forecasts:.2f} ({rounds} rounds)")


def shares(recording: Path) -> Work:
    """What a frame takes on this core: up to its soft bits, and its decoding; each alone."""
    batches: list[Batch] = []

    def take(*arrays: Any) -> int:
        batches.append(Batch(*arrays))
        return remote.BATCH_BYTES

    options = dvbs2._reception(
        recording, format=None, sample_rate_hz=None, symbol_rate_hz=None, offset_hz=None, rolloff=0.20, gold_code=0
    )
    began = time.perf_counter()
    _core.receive_llrs(options, take, batch_bytes=remote.BATCH_BYTES)
    demapped = time.perf_counter()
    for batch in batches:
        decoded(batch)
    done = time.perf_counter()
    frames = sum(map(len, batches))
    each = 1e6 / frames
    return Work((demapped - began) * each, (done - demapped) * each, sum(b.llrs.nbytes for b in batches) // frames)


def _received(engine: Engine, recording: Path, batch_bytes: int) -> tuple[float, bytes]:
    """Microseconds a frame, and the stream."""
    to = io.BytesIO()
    began = time.perf_counter()
    report = remote.receive(recording, to, executor=engine.executor, workers=1, batch_bytes=batch_bytes)
    taken = time.perf_counter() - began
    if report.frames_here or report.failure:
        raise _core.JobFailed(f"frames were decoded here: {report.failure}")
    return 1e6 * taken / report.frames, to.getvalue()


if __name__ == "__main__":
    sys.exit(main())
