"""A cut over a wire: what the forecast and the simulation say of it, and what it comes to.

Two network namespaces with a link between them, a core for each: on one head and Dask's scheduler, on the other the worker.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from .. import _core, dvbs2
from ..host_simulation import Carrier, Hosts, Link, simulate
from ..remote.calibrate import measure
from ..remote.cost import forecast
from ..sweep import engines
from .decoding import received, shares
from .two_hosts import SCHEDULER, NoHosts, Programs, link_of, two_hosts

LINKS_MBIT = (0, 1000, 400, 100)
"""0: as fast as memory."""
BATCHES = (4, 16)
_MEMORY_BITS_PER_S = 40e9
_PAYLOAD = 1448 / 1514
"""Of what passes the wire: TCP over Ethernet."""
_SYMBOLS, _BBFRAME_BYTES = 33282, 4026
"""Of a normal frame of QPSK 1/2 with pilots (EN 302 307-1, 5.5, and table 5a)."""


@dataclass(frozen=True)
class Seen:
    """Microseconds from frame to frame, of a batch size."""

    frames: int
    rest_us: float
    decode_us: float
    measured_us: float
    forecast_us: float
    simulated_us: float
    bound: str


def bench_wire(recording: Path, rounds: int) -> None:
    """Prints a line for each link and batch. Throws NoHosts."""
    if find_spec("distributed") is None:
        raise NoHosts("it needs the Python package distributed")
    for mbit in LINKS_MBIT:
        seen = _over_link(recording, mbit, rounds)
        for frames in BATCHES:
            _show(mbit, [each for each in seen if each.frames == frames])


def _show(mbit: int, rounds: list[Seen]) -> None:
    ratios = [
        statistics.median(getattr(each, name) / each.measured_us for each in rounds) for name in ("forecast_us", "simulated_us")
    ]
    measured = statistics.median(each.measured_us for each in rounds)
    here = statistics.median(each.rest_us + each.decode_us for each in rounds)
    print(
        f"dask:1, {f'{mbit} Mbit/s' if mbit else 'a link as fast as memory'}, batches of {rounds[0].frames}: "
        f"{measured:.0f} us a frame (here {here:.0f}), bound by {rounds[-1].bound}; "
        f"forecast {ratios[0]:.2f}, simulation {ratios[1]:.2f} of that ({len(rounds)} rounds)",
        flush=True,
    )


# In the head's namespace: a process of its own, since a process is in one.
def _over_link(recording: Path, mbit: int, rounds: int) -> list[Seen]:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise _core.JobFailed("head and helper need a core each")
    with tempfile.TemporaryDirectory() as folder, two_hosts(link_of(mbit) if mbit else []) as (head, helper):
        with Programs(Path(folder)) as programs:
            programs.scheduler(head, cores[0])
            programs.worker(helper, cores[1])
            words = [sys.executable, "-m", __spec__.name, str(recording), str(mbit), str(rounds)]
            environment = {**os.environ, "DASK_SCHEDULER_ADDRESS": SCHEDULER}
            program = programs.start(head, *words, core=cores[0], stdout=subprocess.PIPE, env=environment)
            said, _ = program.communicate()
            if program.returncode != 0:
                raise _core.JobFailed(f"the head has failed: {(Path(folder) / 'log-2').read_text().strip()[-300:]}")
    return [Seen(**each) for each in json.loads(said)]


def _be_head(recording: Path, mbit: int, rounds: int) -> list[Seen]:
    seen = []
    with engines.opened("dask", 1) as engine:
        assert engine is not None
        cost = measure(engine, "dask")
        packets = dvbs2.receive(recording, executor="sequence").packets.tobytes()
        received(engine, recording, 1 << 18)
        link = Link(1e6 * mbit * _PAYLOAD if mbit else _MEMORY_BITS_PER_S)
        for _ in range(rounds):
            work = shares(recording)
            for frames in BATCHES:
                cut = forecast(cost, work, frames)
                measured_us, stream = received(engine, recording, cut.bytes)
                if stream != packets:
                    raise _core.JobFailed("other packets than the receiver's")
                carrier = Carrier(
                    _SYMBOLS, work.rest_us, work.rest_us, work.decode_us, work.frame_bytes, _BBFRAME_BYTES
                )
                passed = simulate([carrier], Hosts(1, 1, 1, link, cost.head, cost.helper, frames))
                simulated_us = 1e6 * _SYMBOLS / passed.symbol_rate_hz
                seen.append(
                    Seen(frames, work.rest_us, work.decode_us, measured_us, cut.period_us, simulated_us, passed.bound)
                )
    return seen


# Scheduler and worker take some seconds to be there.
def _once_they_are_there(recording: Path, mbit: int, rounds: int) -> list[Seen]:
    for _ in range(20):
        try:
            return _be_head(recording, mbit, rounds)
        except _core.JobFailed as failed:
            if "scheduler" not in str(failed):
                raise
            time.sleep(0.5)
    return _be_head(recording, mbit, rounds)


if __name__ == "__main__":
    print(json.dumps([asdict(each) for each in _once_they_are_there(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))]))
