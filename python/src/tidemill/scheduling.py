"""Profiles, schedules, simulation, and the front of period against power."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, Literal

from . import _core, _given
from .graph import Graph
from .record import Record, tell_warnings

if TYPE_CHECKING:
    from .figures import Figure

Objective = Literal["cores", "power", "stages"]
Cores = Mapping[str, int] | str
Watts = Mapping[str, float | tuple[float, float]] | str
Path = str | os.PathLike[str]

_ASSUMED_W = 1.0  # of a busy core, where nobody tells watts
_LONGEST_S = 1e9
_LONGEST_US = 1e12
_MOST_JITTER = 1e3


class Profile:
    """Microseconds that each task of a chain takes on each kind of core, per source frame."""

    def __init__(self, core: _core.Profile) -> None:
        self._core = core

    @classmethod
    def read(cls, path: Path) -> Profile:
        """Throws ScheduleError naming the place in the file that cannot be used."""
        return cls(_core.Profile.read(_given.path("path", path)))

    @classmethod
    def from_json(cls, text: str) -> Profile:
        return cls(_core.Profile.from_json(_given.text("text", text)))

    def write(self, path: Path) -> None:
        self._core.write(_given.path("path", path))

    def to_json(self) -> str:
        return self._core.to_json()

    @property
    def kinds(self) -> list[str]:
        """Kinds of cores."""
        return self._core.kinds

    @property
    def cores(self) -> dict[str, int]:
        """Cores of each kind, as far as the profile names them."""
        return dict(self._core.cores)

    @property
    def warnings(self) -> list[str]:
        """What makes the weights less sure than they look."""
        return self._core.warnings

    @property
    def data(self) -> dict[str, list[Any]]:
        """Columns: task, replicable, and the weight in microseconds on each kind."""
        columns: dict[str, list[Any]] = {"task": self._core.names, "replicable": self._core.replicable}
        for k, kind in enumerate(self.kinds):
            columns[f"{kind}_us"] = [weights[k] for weights in self._core.weights_us]
        return columns

    def with_kind(self, kind: str, *, like: str | None = None, times: float = 1.0) -> Profile:
        """With a kind of cores that nobody measured: each task takes `times` as long there as on the kind `like`.

        like: else the only kind that there is. `warnings` of what comes out say so.
        """
        if like is None and len(self.kinds) > 1:
            raise _core.ScheduleError(f"core kind '{kind}' like which one? Give like= one of: {', '.join(self.kinds)}")
        return Profile(self._core.with_kind(kind, like or self.kinds[0], times))

    def _with_kinds_of(self, cores: Cores | None) -> Profile:
        """With the kinds of these cores, where only one was measured; tells those that were not."""
        if cores is None:
            return self
        wider = Profile(self._core.with_kinds_of(_counts(cores) or ""))
        new = zip(wider.kinds[len(self.kinds) :], wider.warnings[len(self.warnings) :], strict=True)
        for kind, told in new:
            how = f'profile.with_kind("{kind}", times=2) says that tasks take twice as long there'
            warnings.warn(f"{told}; {how}", RuntimeWarning, stacklevel=3)
        return wider

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and bool(self._core == other._core)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Profile.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"<Profile of {len(self._core.names)} tasks on {', '.join(self.kinds)}>"


class Schedule:
    """Stages of a chain, each on threads on cores of one kind, or of several that take turns by a word."""

    def __init__(self, core: _core.Schedule, profile: Profile | None = None, why: str = "", call: str = "") -> None:
        self._core = core
        self._profile = profile
        self._call = call
        self.why = why
        """Why a device is used or not; empty where the profile has none."""

    @classmethod
    def read(cls, path: Path) -> Schedule:
        """Throws ScheduleError naming the place in the file that cannot be used."""
        return cls(_core.Schedule.read(_given.path("path", path)))

    @classmethod
    def from_json(cls, text: str) -> Schedule:
        return cls(_core.Schedule.from_json(_given.text("text", text)))

    @classmethod
    def of(cls, *stages: tuple[int, int] | tuple[int, int, str]) -> Schedule:
        """One made by hand: each stage has so many tasks, threads, and a kind of cores ("big" if not said)."""
        for stage in stages:
            if not isinstance(stage, tuple) or len(stage) not in (2, 3):
                raise _core.ScheduleError(f"stage {stage!r}: give (tasks, threads), or (tasks, threads, kind of cores)")
        listed = [
            {"tasks": stage[0], "threads": stage[1], "core-type": stage[2] if len(stage) > 2 else "big"}
            for stage in stages
        ]
        return cls.from_json(json.dumps({"schedule": listed}, default=index))

    def write(self, path: Path) -> None:
        self._core.write(_given.path("path", path))

    def to_json(self) -> str:
        return self._core.to_json()

    @property
    def period_us(self) -> float | None:
        """Predicted time between two source frames; None where nobody has predicted it."""
        return self._core.period_us

    @property
    def stages(self) -> list[Record]:
        """Tasks, cores and kind of each stage."""
        return [Record(stage) for stage in self._core.summary["stages"]]

    @property
    def cores(self) -> dict[str, int]:
        """Cores that it uses, by kind."""
        return dict(self._core.summary["cores"])

    def describe(self, profile: Profile | None = None, *, cores: Cores | None = None,
                 watts: Watts | None = None) -> Record:  # fmt: skip
        """Period, weight of each stage, power where watts are known, and the distance from the best possible."""
        how = _core.ScheduleConfig(cores=_counts(cores), watts=_watts(watts))
        weights = self._profile_or(profile)._with_kinds_of(self.cores)
        return Record(self._core.describe(weights._core, how))

    def plot(self, profile: Profile | None = None) -> Figure:
        """Stages as boxes: their tasks, cores and weights. A schedule that was read needs its profile."""
        from .figures.schedule import schedule_figure

        return schedule_figure(self, self._profile_or(profile)._with_kinds_of(self.cores), self._call)

    def _profile_or(self, profile: Profile | None) -> Profile:
        known = profile or self._profile
        if known is None:
            raise _core.ScheduleError("the schedule comes without its profile: give it as profile=")
        return _profile(known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _schedule_again, (self.to_json(), self._profile, self.why, self._call)

    def __repr__(self) -> str:
        stages = " | ".join(f"{s.get('task_count', 0)} tasks on {s.cores} {s.kind}" for s in self.stages)
        period = "" if self.period_us is None else f", {self.period_us:.2f} us"
        return f"<Schedule {stages}{period}>"


def _schedule_again(text: str, profile: Profile | None, why: str, call: str) -> Schedule:
    return Schedule(_core.Schedule.from_json(text), profile, why, call)


@dataclass(frozen=True)
class Simulation:
    """What a simulated run came to; period_us, latency, stages are in `report`."""

    report: Record
    table: str
    """For people."""
    steps: list[tuple[int, int, int, float, float]]
    """Of the first frames: stage, thread, frame, begin and end in microseconds."""
    call: str = field(default="", repr=False)
    seed: int | None = None

    @property
    def period_us(self) -> float:
        return float(self.report["period"])

    def plot(self) -> Figure:
        """Which frame each thread worked on, and when."""
        from .figures.gantt import gantt_figure

        return gantt_figure(self)


@dataclass(frozen=True)
class Front:
    """Schedules that are faster than any of less or equal power, fastest first."""

    periods_us: list[float]
    powers_w: list[float]
    schedules: list[Schedule] = field(repr=False)
    call: str = field(default="", repr=False)
    assumed: str = ""
    """What nobody told and was assumed; empty where all was told."""

    def __len__(self) -> int:
        return len(self.schedules)

    def plot(self) -> Figure:
        """Period against power."""
        from .figures.front import front_figure

        return front_figure(self)


def profile(
    graph: Graph, *, seconds: float = 0.5, frames: int | None = None, cores: Cores | None = None
) -> Profile:
    """Runs a graph in order on each kind of core, pinned, and tells what each task takes.

    seconds, frames: how long on each kind. cores: whose kinds; else all of this machine.
    Frames that run are delivered. Throws FrameError when a task raises, ScheduleError when the source ends at once.
    """
    found = _core.profile(
        _given.instance("graph", graph, Graph, "a tidemill.Graph")._core,
        frames=None if frames is None else _given.whole("frames", frames, 1),
        seconds=_given.number("seconds", seconds, 0, _LONGEST_S),
        cores=_counts(cores),
    )
    tell_warnings()
    return Profile(found)


def schedule(
    profile: Profile,
    *,
    cores: Cores | None = None,
    objective: Objective = "cores",
    watts: Watts | None = None,
    strategy: str = "herad",
    period_us: float | None = None,
    rate_hz: float | None = None,
    free: Cores | None = None,
    model: Path | None = None,
) -> Schedule:
    """The best schedule of a chain, for the cores that are given or those that the profile names.

    Where the profile was measured on one kind of cores alone, others count as equally fast, with a warning:
    Profile.with_kind() tells how fast they are.
    objective: what decides between equal periods: "cores" (fewest), "power" (least, by watts) or "stages" (fewest).
    watts: of a busy core of each kind, or (busy, idle): {"big": 1.0, "little": (0.25, 0.05)}.
    period_us, rate_hz: a period up to which all are equal. free: cores to leave alone. model: a cost model's file.
    Throws ScheduleError for what does not fit together.
    """
    how = _core.ScheduleConfig(
        cores=_counts(cores),
        watts=_watts(watts),
        model=_model(model),
        strategy=_given.text("strategy", strategy),
        objective=_given.text("objective", objective),
        period_us=None if period_us is None else _given.number("period_us", period_us, 0, error=_core.ScheduleError),
        rate_hz=None if rate_hz is None else _given.number("rate_hz", rate_hz, 0, error=_core.ScheduleError),
        free=_counts(free),
    )
    profile = _profile(profile)._with_kinds_of(cores)
    made, why = _core.schedule(profile._core, how)
    call = f"tidemill.schedule(profile, cores={_counts(cores)!r}, objective={objective!r}, strategy={strategy!r})"
    return Schedule(made, profile, why, call)


def simulate(
    schedule: Schedule,
    profile: Profile | None = None,
    *,
    frames: int = 10000,
    drawn_frames: int = 24,
    hop_latency_us: float = 0,
    jitter: float = 0,
    seed: int = 1,
    watts: Watts | None = None,
    model: Path | None = None,
) -> Simulation:
    """Predicts period, latency, occupancy and energy of a schedule by simulation.

    jitter: relative standard deviation of stage times. drawn_frames: of how many frames the steps are kept.
    """
    schedule = _given.instance("schedule", schedule, Schedule, "a tidemill.Schedule")
    weights = schedule._profile_or(profile)._with_kinds_of(schedule.cores)
    known = _core.ScheduleConfig(watts=_watts(watts), model=_model(model))
    report, table, steps = _core.simulate(
        schedule._core,
        weights._core,
        frames=_given.whole("frames", frames, 1),
        observed=_given.whole("drawn_frames", drawn_frames),
        hop_latency_us=_given.number("hop_latency_us", hop_latency_us, 0, _LONGEST_US),
        jitter=_given.number("jitter", jitter, 0, _MOST_JITTER),
        seed=_given.seed(seed),
        known=known,
    )
    call = f"tidemill.simulate(schedule, profile, frames={frames}, jitter={jitter})"
    return Simulation(Record(report), table, steps, call, seed if jitter > 0 else None)


def front(
    profile: Profile, *, watts: Watts | None = None, cores: Cores | None = None, model: Path | None = None
) -> Front:
    """The trade between period and power.

    Without watts and model, a busy core of any kind takes 1 W, and the figure says so: then power is how many cores
    are busy. Kinds that were not measured count as in schedule().
    """
    profile = _profile(profile)._with_kinds_of(cores)
    assumed = watts is None and model is None
    if assumed:
        watts = dict.fromkeys(profile.kinds, _ASSUMED_W)
    how = _core.ScheduleConfig(cores=_counts(cores), watts=_watts(watts), model=_model(model))
    points = _core.front(profile._core, how)
    call = f"tidemill.front(profile, watts={_watts(watts)!r}, cores={_counts(cores)!r})"
    return Front(
        [period for period, _, _ in points],
        [power for _, power, _ in points],
        [Schedule(made, profile) for _, _, made in points],
        call,
        f"{_ASSUMED_W:g} W per busy core assumed" if assumed else "",
    )


def cores_here() -> str:
    """The cores of this machine, by kind: "big=4,little=4"."""
    return _core.cores_here()


def _profile(profile: Profile) -> Profile:
    return _given.instance("profile", profile, Profile, "a tidemill.Profile; Profile.read() reads one from a file")


def _model(model: Path | None) -> str | None:
    return None if model is None else _given.path("model", model)


def _counts(cores: Cores | None) -> str | None:
    if cores is None or isinstance(cores, str):
        return cores if cores is None else _given.text("cores", cores)
    _given.instance("cores", cores, Mapping, 'numbers by kind, like {"big": 4}')
    return ",".join(f"{_given.text('kind', kind)}={count}" for kind, count in cores.items())


def _watts(watts: Watts | None) -> str | None:
    if watts is None or isinstance(watts, str):
        return watts if watts is None else _given.text("watts", watts)
    _given.instance("watts", watts, Mapping, 'watts by kind, like {"big": 1.0}')
    texts = [
        f"{kind}={w[0]!r}/{w[1]!r}" if isinstance(w, tuple) else f"{kind}={w!r}" for kind, w in watts.items()
    ]
    return ",".join(texts)
