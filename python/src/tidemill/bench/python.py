"""`tidemill bench python`: what a task in Python costs, its arrays, importing the package, and a receiver that Python starts.

Each is beside its baseline in the same run, the two taken in turns; a figure is the median of the rounds, with quartiles.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tidemill_program import package_folder

from .. import _core, dvbs2, graph, scheduling
from ..figures.figure import Note
from ..program import DONE, new_parser, run_program
from ..run import Pipeline, Sequence
from .recordings import put_recording

ELEMENTS = 256
TASKS = 8
"""That a chain has more than the one it is compared with."""
SOCKETS = 8
RECORDING = ("QPSK 3/4", 30000, 8.0)
POINTS = 1_000_000


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    parser = new_parser("bench python", __doc__ or "")
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="of each, in turns (default: 11)")
    parser.add_argument("--frames", type=int, default=20000, metavar="N", help="of a chain's run (default: 20000)")
    parser.add_argument("--program", type=Path, metavar="FILE", help="built elsewhere, to compare the package's with")
    parser.add_argument("--only", choices=list(_MEASURES), action="append", help="(default: all)")
    return run_program(parser, _bench, words)


def _bench(given: argparse.Namespace) -> int:
    print(Note("tidemill bench python", seed=1))
    for name, measure in _MEASURES.items():
        if not given.only or name in given.only:
            measure(given)
    return DONE


def _in_turns(rounds: int, *measures: Callable[[], float]) -> list[tuple[float, ...]]:
    """A list of results for each measure; a first round warms up."""
    taken = [[measure() for measure in measures] for _ in range(rounds + 1)][1:]
    return list(zip(*taken, strict=True))


def _told(values: list[float] | tuple[float, ...], digits: int = 0) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _per_call_ns(run: Callable[[], Any], calls: int) -> float:
    begin = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - begin) / calls


# How a chain of so many tasks of this function runs, its frames counted.
def _chain(work: Callable[..., Any], tasks: int, sockets: dict[str, Any], stages: int = 0) -> Sequence | Pipeline:
    made = graph.Graph()
    middle = [graph.task(work, **sockets) for _ in range(tasks)]
    made.chain(graph.source(lambda y: None, y=graph.Out(np.float32, ELEMENTS)), *middle, graph.sink(lambda x: None))
    return Pipeline(made, scheduling.Schedule.of((tasks + 2, 1))) if stages else Sequence(made)


# A call over the bare function on the same kind of arrays: what a chain of more tasks takes longer than one of fewer.
def _call_ns(given: argparse.Namespace, work: Callable[..., Any], stages: int = 0) -> list[float]:
    x, y = np.zeros(ELEMENTS, np.float32), np.zeros(ELEMENTS, np.float32)
    sockets = {"x": graph.In(np.float32, ELEMENTS), "y": graph.Out(np.float32, ELEMENTS)}
    few, many = _chain(work, 1, sockets, stages), _chain(work, 1 + TASKS, sockets, stages)

    def bare() -> None:
        for _ in range(given.frames):
            work(x, y)

    def run(executor: Sequence | Pipeline) -> float:
        return _per_call_ns(lambda: executor.run(frames=given.frames, statistics=False), given.frames)

    taken = _in_turns(given.rounds, lambda: _per_call_ns(bare, given.frames), lambda: run(few), lambda: run(many))
    return [(more - less) / TASKS - alone for alone, less, more in zip(*taken, strict=True)]


def _add(x: Any, y: Any) -> None:
    np.add(x, x, out=y)


def _calls(given: argparse.Namespace) -> None:
    print(f"a task's call over the bare function, in order: {_told(_call_ns(given, _add))} ns")
    print(f"the same in a pipeline's stage: {_told(_call_ns(given, _add, stages=1))} ns")


# Two stages of which each has a task in Python: they take turns with the lock, or one is in a process of its own.
def _two_stages(given: argparse.Namespace) -> None:
    frames = max(1, given.frames // 40)

    def period_us(apart: bool, stages: int) -> float:
        made = graph.Graph()
        shape: dict[str, Any] = {"x": graph.In(np.float64, 1 << 14), "y": graph.Out(np.float64, 1 << 14)}
        first, second = graph.task(_compute, **shape), graph.task(_compute, process=apart, **shape)
        made.chain(graph.source(lambda y: None, y=graph.Out(np.float64, 1 << 14)), first, second, graph.sink(lambda x: None))
        cut = scheduling.Schedule.of((2, 1), (2, 1)) if stages == 2 else scheduling.Schedule.of((4, 1))
        return 1e-3 * _per_call_ns(lambda: Pipeline(made, cut).run(frames=frames, statistics=False), frames)

    taken = _in_turns(min(given.rounds, 5), lambda: period_us(False, 1), lambda: period_us(False, 2), lambda: period_us(True, 2))
    for what, values in zip(("one stage", "two stages", "two stages, one by process=True"), taken, strict=True):
        print(f"two tasks in Python that compute, {what}: {_told(values)} us a frame")


def _compute(x: Any, y: Any) -> None:
    """Most of it under the interpreter's lock."""
    for k in range(2000):
        y[k] = k


# A kept view: what two calls take longer with more sockets, over functions with more arguments. A new one: what they take
# longer where one of the two shuts its arrays, which are replaced then, over doing that to one's own.
def _views(given: argparse.Namespace) -> None:
    arrays = [np.zeros(ELEMENTS, np.float32) for _ in range(SOCKETS)]

    def bare(work: Callable[..., None], count: int, opens: bool = False) -> float:
        chosen = arrays[:count]

        def calls() -> None:
            for _ in range(given.frames):
                if opens:
                    _open(arrays)
                work(*chosen)

        return _per_call_ns(calls, given.frames)

    def slices() -> None:
        for _ in range(given.frames):
            arrays[0][:]

    few, many, changed = _fan(_nothing, 1), _fan(_nothing, SOCKETS), _fan(_shut, SOCKETS)

    def run(executor: Sequence) -> float:
        return _per_call_ns(lambda: executor.run(frames=given.frames, statistics=False), given.frames)

    taken = _in_turns(given.rounds, lambda: run(few), lambda: run(many), lambda: run(changed), lambda: bare(_nothing, 1),
                      lambda: bare(_nothing, SOCKETS), lambda: bare(_shut, SOCKETS, opens=True),
                      lambda: bare(_nothing, SOCKETS, opens=True),
                      lambda: _per_call_ns(slices, given.frames))  # fmt: skip
    rows = list(zip(*taken, strict=True))
    kept = [(r[1] - r[0] - 2 * (r[4] - r[3])) / (2 * (SOCKETS - 1)) for r in rows]
    fresh = [(r[2] - r[1] - (r[5] - r[6])) / SOCKETS for r in rows]
    print(f"a kept view of a socket: {_told(kept)} ns; a new one: {_told(fresh)} ns; NumPy's own a[:]: {_told(taken[7])} ns")


def _open(arrays: list[Any]) -> None:
    for each in arrays:
        each.flags.writeable = True


# A source and a sink with so many sockets each; the source's function is the one to measure.
def _fan(work: Callable[..., None], count: int) -> Sequence:
    outputs: dict[str, Any] = {f"y{k}": graph.Out(np.float32, ELEMENTS) for k in range(count)}
    inputs: dict[str, Any] = {f"x{k}": graph.In(np.float32, ELEMENTS) for k in range(count)}
    made = graph.Graph()
    source = made.add(graph.source(work, **outputs))
    sink = made.add(graph.sink(_nothing, **inputs))
    for k in range(count):
        made.bind(getattr(source, f"y{k}"), getattr(sink, f"x{k}"))
    return Sequence(made)


def _nothing(*given: Any) -> None:
    pass


def _shut(*given: Any) -> None:
    for each in given:
        each.flags.writeable = False


def _import(given: argparse.Namespace) -> None:
    def milliseconds(modules: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)
        return 1e3 * (time.perf_counter() - begin)

    taken = _in_turns(given.rounds, lambda: milliseconds("numpy"), lambda: milliseconds("numpy, tidemill"))
    over = [both - alone for alone, both in zip(*taken, strict=True)]
    print(f"import tidemill over import numpy: {_told(over, 1)} ms; that alone: {_told(taken[0], 1)} ms")


# By the rates that they report themselves: in order, some seconds of work.
def _receiver(given: argparse.Namespace) -> None:
    programs = {"the package's program": package_folder() / "bin" / "tidemill"}
    if given.program:
        programs[str(given.program)] = given.program
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder, "made.sigmf-meta")
        put_recording(recording, *RECORDING)

        def by(program: Path) -> float:
            words = [str(program), "dvbs2", "rx", str(recording), "--executor", "sequence", "--json"]
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            return float(json.loads(done.stdout)["info_mbps"])

        def by_python() -> float:
            return float(dvbs2.receive(recording, executor="sequence").info_mbps)

        measures = [lambda program=program: by(program) for program in programs.values()]
        taken = _in_turns(given.rounds, by_python, *measures)
        report = dvbs2.receive(recording, executor="sequence", constellation=1 + POINTS // 32400)
    for name, rates in zip(programs, taken[1:], strict=True):
        ratios = [python / alone for python, alone in zip(taken[0], rates, strict=True)]
        print(f"the receiver from Python over {name}: {_told(ratios, 3)} times its {_told(rates, 1)} Mb/s")
    points = report.constellation
    if points.flags.owndata or len(points) < POINTS:
        raise _core.JobFailed("the constellation was copied, or is too small")
    print(f"a constellation of {len(points)} points: an array over the receiver's memory, not copied")


_MEASURES: dict[str, Callable[[argparse.Namespace], None]] = {
    "calls": _calls,
    "views": _views,
    "stages": _two_stages,
    "import": _import,
    "receiver": _receiver,
}

if __name__ == "__main__":
    sys.exit(main())
