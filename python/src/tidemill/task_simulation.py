"""Programs of tasks under dynamic scheduling, simulated: under the policies that there are, or one of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from . import _core, _given
from ._core import PolicyTask
from ._laboratory import lab
from .record import Record
from .scheduling import Cores, Profile, _counts

if TYPE_CHECKING:
    from .figures import Figure


class OwnPolicy(Protocol):
    """Which of the ready tasks goes first: the one of the least rank; of several, the one that was created first.

    It may have issued(task, worker) and completed(task, worker), too, which are told when a task begins and ends.
    """

    def rank(self, task: PolicyTask) -> int:
        """Asked once, when the task is ready."""


_MOST = 10**6
_MOST_NOISE = 1e3

Policy = str | OwnPolicy | Callable[[PolicyTask], int]


@dataclass(frozen=True)
class TaskSimulation:
    """What a simulated run of tasks came to: makespan_us, efficiency, mean_latency_us, ... are in `report`."""

    report: Record
    steps: list[tuple[int, str, int, float, float]] = field(repr=False)
    """Of the first iterations: worker, task, iteration, begin and end in microseconds."""
    call: str = field(repr=False)
    seed: int | None = field(repr=False)

    @property
    def period_us(self) -> float:
        return float(self.report["period_us"])

    def plot(self) -> Figure:
        """What each worker did; an iteration has one colour."""
        from .figures.gantt import workers_figure

        return workers_figure(self)


def simulate_tasks(
    program: Profile | str,
    *,
    policy: Policy = "gpriority",
    workers: int = 4,
    cores: Cores | None = None,
    iterations: int | None = None,
    window: int = 16,
    noise: float = 0,
    seed: int = 1,
    drawn_iterations: int = 12,
) -> TaskSimulation:
    """Simulates dynamic scheduling: a profile's chain on cores of its kinds, or one of task_programs() on workers.

    policy: one of policies(), a list of them with commas, each breaking the ties of those before; or one of one's own:
        a function that gives a task's rank, a whole number, or an object with rank(task). The least goes first.
    workers: of a named program; cores: of a profile, else those that it names. iterations: else as many as suit.
    window: iterations in flight at most. noise: relative standard deviation of task times.
    Throws PolicyError, ScheduleError for what there is not; what a policy raises comes out here.
    """
    _given.instance("program", program, (Profile, str), "a tidemill.Profile, or one of task_programs()")
    if policy is None:
        raise TypeError("policy=None: give one of policies(), or one of your own")
    workers = _given.whole("workers", workers, 1, _MOST)
    common: dict[str, Any] = {
        "iterations": 0 if iterations is None else _given.whole("iterations", iterations, 1, _MOST),
        "policy": policy,
        "window": _given.whole("window", window, 1, _MOST),
        "noise": _given.number("noise", noise, 0, _MOST_NOISE),
        "seed": _given.seed(seed),
        "drawn": _given.whole("drawn_iterations", drawn_iterations),
    }
    if isinstance(program, str):
        told, steps = lab.simulate_program(_given.text("program", program), workers=workers, **common)
    else:
        told, steps = lab.simulate_profile(program._core, cores=_counts(cores), **common)
    named = policy if isinstance(policy, str) else getattr(policy, "__name__", type(policy).__name__)
    what = repr(program) if isinstance(program, str) else "profile"
    call = f"tidemill.simulate_tasks({what}, policy={named!r}, workers={told['workers']}, noise={noise})"
    return TaskSimulation(Record(told), steps, call, seed if noise > 0 else None)


def policies() -> dict[str, str]:
    """The policies that there are, and what each prefers."""
    return dict(_core.policies())


def task_programs() -> dict[str, str]:
    """Programs of tasks by name: StreamIt benchmarks, factorisations, a decoder, the worst case of each policy."""
    return dict(lab.task_programs())
