"""What an engine costs to carry a batch of soft bits: ./x python bench-engine. Beside a bare socket in the same run, the two
taken in turns; medians of the rounds."""

import argparse
import os
import resource
import socket
import statistics
import threading
import time
from contextlib import ExitStack

import numpy as np

from tidemill.figures import Note
from tidemill.sweep import engines

SIZES = {"0.25 MB": 1 << 18, "1 MB": 1 << 20, "4 MB": 1 << 22}
BYTES = 64 << 20


def through(executor, batch):
    """Seconds for BYTES in batches, two in flight, and the median seconds of a batch alone."""
    began, flying = time.perf_counter(), []
    for _ in range(BYTES // len(batch)):
        flying.append(executor.submit(np.size, batch))
        if len(flying) == 2:
            assert flying.pop(0).result() == len(batch)
    for future in flying:
        assert future.result() == len(batch)
    taken = time.perf_counter() - began
    alone = []
    for _ in range(10):
        began = time.perf_counter()
        executor.submit(np.size, batch).result()
        alone.append(time.perf_counter() - began)
    return taken, statistics.median(alone)


def over_socket(batch):
    """The same between two threads over TCP on this machine, with a byte back for each batch."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        reader = threading.Thread(target=_read_batches, args=(server, len(batch)))
        reader.start()
        with socket.create_connection(server.getsockname()) as sender:
            began = time.perf_counter()
            for _ in range(BYTES // len(batch)):
                sender.sendall(batch)
            for _ in range(BYTES // len(batch)):
                sender.recv(1)
            taken = time.perf_counter() - began
        reader.join()
    return taken


def _read_batches(server, size):
    taker, _ = server.accept()
    buffer = bytearray(size)
    with taker:
        for _ in range(BYTES // size):
            view = memoryview(buffer)
            while len(view) > 0:
                view = view[taker.recv_into(view) :]
            taker.sendall(b"k")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    wanted = ["processes"] + (["ray"] if os.environ.get("RAY_ADDRESS") else [])
    wanted += ["dask"] if os.environ.get("DASK_SCHEDULER_ADDRESS") else []
    print(Note("./x python bench-engine"))
    with ExitStack() as stack:
        opened = {name: stack.enter_context(engines.opened(name, 1)) for name in wanted}
        for label, size in SIZES.items():
            batch = np.zeros(size, np.int8)
            for name, engine in opened.items():
                results = []
                for _ in range(given.rounds + 1):
                    before = cpu_seconds()
                    taken, alone = through(engine.executor, batch)
                    results.append((BYTES / taken / 1e9, (cpu_seconds() - before) / (BYTES // size), alone, over_socket(batch)))
                speed, cpu, alone, bare = (statistics.median(column) for column in zip(*results[1:], strict=True))
                print(
                    f"{label}, {name}: {speed:.2f} GB/s (socket {BYTES / bare / 1e9:.2f}), "
                    f"{cpu * 1e6:.0f} us of the sender's processor and {alone * 1e6:.0f} us per batch"
                )


if __name__ == "__main__":
    main()
