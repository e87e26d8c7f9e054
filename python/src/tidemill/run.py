"""Executors: the same graph in order, in a pipeline by a schedule, or dynamically, to the same bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core
from ._given import instance, number, path, whole
from .graph import Graph, SocketRef
from .record import Record, tell_warnings
from .scheduling import Schedule

if TYPE_CHECKING:
    from .figures import Figure
    from .task_simulation import Policy


_LONGEST_S = 1e9
_MOST_WAITING = 2**20
_MOST_WORKERS = 4096


class Run(Record):
    """What came of a run: frames, delivered, elapsed_s, tasks, stages, ...; times in microseconds."""

    def plot(self) -> Figure:
        """How the time of each stage's threads went: work, and waiting for input or for room."""
        from .figures.stages import stages_figure

        return stages_figure(self)


class Executor:
    """What the three have in common."""

    _core: Any
    _graph: Graph

    def run(
        self,
        *,
        frames: int | None = None,
        seconds: float | None = None,
        statistics: bool = True,
        finish: bool = False,
        trace: str | os.PathLike[str] | None = None,
    ) -> Run:
        """Runs until the source stops, after so many source frames or seconds, or at Ctrl-C.

        finish: the stream ends with this run, whatever ends it.
        trace: a file for what every thread does, for tidemill.figures.trace(), ui.perfetto.dev or chrome://tracing.
        Throws FrameError, with `task` and `frame`, when a task raises; what it raised is the cause.
        """
        return self._go(self._core.run, frames, seconds, statistics, finish, trace)

    def resume(
        self,
        *,
        frames: int | None = None,
        seconds: float | None = None,
        statistics: bool = True,
        finish: bool = False,
        trace: str | os.PathLike[str] | None = None,
    ) -> Run:
        """Runs on where the last run ended; frame numbers go on, too."""
        return self._go(self._core.resume, frames, seconds, statistics, finish, trace)

    async def run_async(
        self,
        *,
        frames: int | None = None,
        seconds: float | None = None,
        statistics: bool = True,
        finish: bool = False,
        trace: str | os.PathLike[str] | None = None,
    ) -> Run:
        """The same as run(), on a thread of its own, for `await`: who is cancelled ends the run, and waits for that."""
        import asyncio  # half of what importing the package would take

        started = asyncio.ensure_future(
            asyncio.to_thread(
                self.run, frames=frames, seconds=seconds, statistics=statistics, finish=finish, trace=trace
            )
        )
        try:
            return await asyncio.shield(started)
        except asyncio.CancelledError:
            while not started.done():
                self.stop()  # again, in case the run had not begun
                await asyncio.wait([started], timeout=0.01)
            raise

    def stop(self) -> None:
        """Ends the run that is going on, from another thread or from a task; frames that have begun are delivered."""
        self._core.stop()

    def set(self, knob: SocketRef, value: float, /, *more: SocketRef | float, at: int | None = None) -> int:
        """Turns knobs, from any thread, while the stream runs or between runs: `set(amp.gain, 2.0, mix.level, 0.5)`.

        All change on one source frame: the next that begins, or `at`, which must not have begun. Returns that frame.
        Throws GraphError for a value that its knob cannot take.
        """
        given = [knob, value, *more]
        if len(given) % 2:
            raise _core.RunError("set(): give a value behind each knob")
        settings = []
        for each, wanted in zip(given[::2], given[1::2]):
            if not isinstance(each, SocketRef):
                raise _core.RunError(f"set(): {each!r} is no knob; give a module's, like amp.gain")
            self._graph._check_own(each)
            settings.append((each.module, each.name, number(each.name, wanted, error=_core.GraphError)))
        return int(self._core.set(settings, None if at is None else whole("at", at, error=_core.RunError)))

    def _go(
        self,
        go: Any,
        frames: int | None,
        seconds: float | None,
        statistics: bool,
        finish: bool,
        trace: str | os.PathLike[str] | None,
    ) -> Run:
        report = go(
            frames=None if frames is None else whole("frames", frames, error=_core.RunError),
            seconds=None if seconds is None else number("seconds", seconds, 0, _LONGEST_S, error=_core.RunError),
            statistics=bool(statistics),
            finish=bool(finish),
            trace=None if trace is None else path("trace", trace),
        )
        tell_warnings()
        return Run(report)


def _graph(graph: Graph) -> Graph:
    return instance("graph", graph, Graph, "a tidemill.Graph")


def _schedule(schedule: Schedule) -> Schedule:
    return instance("schedule", schedule, Schedule, "a tidemill.Schedule; Schedule.read() reads one from a file")


class Sequence(Executor):
    """Runs a graph in order on the calling thread. Throws GraphError with every fault of the graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = _graph(graph)
        self._core = _core.sequence(graph._core)


class Pipeline(Executor):
    """Runs a graph in stages, each on threads of its own, as a schedule says.

    pinned: threads stay on the schedule's kinds of cores, which must be there; else the system places them.
    ring_depth: frames that may wait between two stages. batch: frames that are handed over at a time.
    Throws ScheduleError when the schedule is not for the graph, PlatformError for cores that are not there.
    """

    def __init__(
        self, graph: Graph, schedule: Schedule, *, pinned: bool = False, ring_depth: int = 1, batch: int = 1
    ) -> None:
        self._graph = _graph(graph)
        self._core = _core.pipeline(
            graph._core,
            _schedule(schedule)._core,
            pinned=bool(pinned),
            ring_depth=whole("ring_depth", ring_depth, 1, _MOST_WAITING),
            batch=whole("batch", batch, 1, _MOST_WAITING),
        )

    def reschedule(self, schedule: Schedule) -> None:
        """Changes the schedule, also while another thread is in run(): no frame is lost."""
        self._core.reschedule(_schedule(schedule)._core)


class Dynamic(Executor):
    """Runs a graph by tasks: workers take those that are ready, as a policy says.

    policy: one of policies(), a list of them with commas; or one of one's own, as for simulate_tasks(): tasks have the
        names of Graph.units, and are then handed out one by one, each when the policy has been asked.
    What a policy raises ends the run, and comes out of it.
    """

    def __init__(self, graph: Graph, *, workers: int = 2, policy: Policy = "gpriority") -> None:
        self._graph = _graph(graph)
        if policy is None:
            raise TypeError("policy=None: give one of policies(), or one of your own")
        self._core = _core.dynamic(graph._core, workers=whole("workers", workers, 1, _MOST_WORKERS), policy=policy)
