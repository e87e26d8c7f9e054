"""`tidemill bench sweep`: what dealing costs.

Sweeps on two workers over the same ranges counted one after the other in one process, and an archive's two workers over
one, each in turns in the same run; ratios are medians of the rounds.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import _core, archive
from ..figures.figure import Note
from ..program import DONE, new_parser, run_program
from ..sweep.kinds import Counts, Range, add
from ..sweep.processes import Processes
from ..sweep.registry import KINDS
from ..sweep.settings import Table
from .recordings import put_recording

RANGES = 96
POINT = {"modcod": "QPSK 1/2", "frame": "normal", "margin": -0.05}
RECORDING = ("QPSK 3/4", 2000, 8.0)


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    parser = new_parser("bench sweep", __doc__ or "")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each, in turns (default: 3)")
    parser.add_argument("--frames", type=int, default=1300, metavar="N", help="of a range: about a second (default: 1300)")
    parser.add_argument("--recordings", type=int, default=60, metavar="N", help="of the archive (default: 60)")
    parser.add_argument("--only", choices=["sweep", "archive"], help="(default: both)")
    parser.add_argument("--ranges-of", type=int, help=argparse.SUPPRESS)
    return run_program(parser, _bench, words)


def _bench(given: argparse.Namespace) -> int:
    if given.ranges_of:
        _count_one_after_the_other(given.ranges_of)
        return DONE
    _adopt_orphans()
    print(Note("tidemill bench sweep", seed=1))
    if given.only != "archive":
        _bench_sweeps(given.rounds, given.frames)
    if given.only != "sweep":
        _bench_archive(given.rounds, given.recordings)
    return DONE


def _bench_sweeps(rounds: int, frames: int) -> None:
    ratios: dict[str, list[float]] = {}
    walls: dict[str, list[float]] = {}
    for _ in range(rounds):
        words = [sys.executable, "-m", __spec__.name, "--ranges-of", str(frames)]
        own = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
        for name, command in _sweep_commands().items():
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "ber.toml").write_text(_toml(frames), encoding="utf-8")
                used, wall_s, said = _measured(command, folder)
            row = said["rows"][0]
            if any(row[field] != value for field, value in own["counts"].items()):
                raise _core.JobFailed(f"{name} has counted something else")
            ratios.setdefault(name, []).append(used / own["cpu_s"])
            walls.setdefault(name, []).append(wall_s / own["cpu_s"])
    for name, values in ratios.items():
        print(
            f"sweep, 2 workers of {name}, {RANGES} ranges of {own['cpu_s'] / RANGES:.2f} s: "
            f"{statistics.median(values):.3f} of the work's own processor time "
            f"({min(values):.3f} to {max(values):.3f}, {rounds} rounds), {statistics.median(walls[name]):.2f} of its time"
        )


# Work of the baseline's process: the ranges, and how much processor time they took.
def _count_one_after_the_other(frames: int) -> None:
    counts: Counts = {}
    began = time.process_time()
    (point,) = KINDS["ber"].points(Table("the benchmark", POINT))
    for k in range(RANGES):
        add(counts, KINDS["ber"].count(point, 1, "", Range(k * frames, frames, None)).counts)
    print(json.dumps({"counts": counts, "cpu_s": time.process_time() - began}))


def _toml(frames: int) -> str:
    point = "\n".join(f"{name} = {json.dumps(value)}" for name, value in POINT.items())
    until = f"errors = 1000000000\nframes = {RANGES * frames}"
    return f'count = "ber"\n[ber]\n{point}\n[until]\n{until}\n[ranges]\nframes = {frames}\n'


def _sweep_commands() -> dict[str, list[str]]:
    program = [sys.executable, "-m", "tidemill.sweep.command", "ber.toml", "--json"]
    commands = {"processes": [*program, "--workers", "2"]}
    if shutil.which("mpirun") and find_spec("mpi4py"):
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        commands["mpi"] = ["mpirun", *as_root, "--oversubscribe", "-np", "3", *program]
    return commands


def _measured(command: list[str], folder: str) -> tuple[float, float, Any]:
    """Processor time of a command and all that it starts, its wall time, and what it prints."""
    before, began = _children_cpu_seconds(), time.perf_counter()
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    wall_s = time.perf_counter() - began
    _wait_for_orphans()
    return _children_cpu_seconds() - before, wall_s, json.loads(ended.stdout)


def _children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# A process of this machine has its workers from a server that outlives it for a moment: their time counts once they have
# been waited for.
def _adopt_orphans() -> None:
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise _core.JobFailed("orphans cannot be adopted here")


def _wait_for_orphans() -> None:
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def _bench_archive(rounds: int, copies: int) -> None:
    times: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _put_copies(folder, copies)
        for _ in range(rounds):
            for workers, taken in times.items():
                with tempfile.TemporaryDirectory() as to, _processes_with_cores(workers) as executor:
                    began = time.perf_counter()
                    done = archive.run(folder, to, executor=executor, workers=workers)
                    taken.append(time.perf_counter() - began)
                if done is None or len(done.received) != copies:
                    raise _core.JobFailed("not every recording was received")
    ratios = [one / two for one, two in zip(times[1], times[2], strict=True)]
    print(
        f"archive of {copies} recordings, two workers over one: {statistics.median(ratios):.2f} times as fast "
        f"({min(ratios):.2f} to {max(ratios):.2f}, {rounds} rounds of {statistics.median(times[2]):.1f} s)"
    )


# A core each: else the kernel may leave two on one of two cores for seconds.
@contextmanager
def _processes_with_cores(workers: int) -> Iterator[Processes]:
    cores = sorted(os.sched_getaffinity(0))[:workers]
    with Processes(workers) as executor:
        for pinned in [executor.submit(os.sched_setaffinity, 0, {core}) for core in cores]:
            pinned.result()
        yield executor


def _put_copies(folder: Path, copies: int) -> None:
    first = folder / "r0.sigmf-meta"
    put_recording(first, *RECORDING)
    content = bytearray(first.with_suffix(".sigmf-data").read_bytes())
    for k in range(1, copies):
        content[k] ^= 1  # so that no two are the same
        shutil.copy(first, folder / f"r{k}.sigmf-meta")
        (folder / f"r{k}.sigmf-data").write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
