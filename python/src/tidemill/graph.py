"""Graphs, and tasks in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import _core
from ._core import CallForm, Direction, Flow, GraphError
from ._given import instance, number, text

if TYPE_CHECKING:
    from .process_task import ProcessTask
    from .scheduling import Schedule

Keep = Literal["copy"] | None

_MOST_DIRECTIONS = 32  # of an array: NumPy's own limit is 32 or 64


class Socket:
    """What a task takes or gives on each frame: `shape` elements of a NumPy type, in C order.

    Types: int8 to uint64, float32, float64, complex64, complex128. Throws GraphError for others.
    """

    direction: Direction
    is_label = False
    label: str | None = None

    def __init__(self, dtype: DTypeLike, shape: int | tuple[int, ...] = 1) -> None:
        self.dtype = np.dtype(dtype)
        self.shape = _whole_numbers(shape)
        if not self.dtype.isnative:
            raise GraphError(f"a socket of {self.dtype.str} elements: give the byte order of this machine")
        if not self.shape or any(length < 1 for length in self.shape):
            raise GraphError(f"a socket of shape {self.shape}: give 1 or more elements in each direction")
        if len(self.shape) > _MOST_DIRECTIONS:
            raise GraphError(f"a socket of {len(self.shape)} directions: give {_MOST_DIRECTIONS} at most")
        if prod(self.shape) >= 2**32:
            raise GraphError(f"a socket of {prod(self.shape)} elements: give fewer than 2^32")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype.name}, {self.shape})"


def _whole_numbers(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    try:
        return tuple(index(length) for length in (shape if isinstance(shape, tuple) else (shape,)))
    except TypeError:
        raise GraphError(f"a socket of shape {shape!r}: give a whole number, or a tuple of them") from None


class In(Socket):
    """An input: its task sees a read-only array."""

    direction = Direction.IN


class Out(Socket):
    """An output: its task fills the array."""

    direction = Direction.OUT


class Forward(Socket):
    """An input that its task changes in place and passes on."""

    direction = Direction.FORWARD


class Label(Socket):
    """A value that goes along with the data, under the name of its socket or `name`: nobody binds it.

    A task gives it, as an array of one element, or, with reads=True, reads what the nearest task before it gave.
    """

    def __init__(self, dtype: DTypeLike, *, reads: bool = False, name: str | None = None) -> None:
        super().__init__(dtype)
        self.direction = Direction.IN if reads else Direction.OUT
        self.label = None if name is None else text("name", name)

    is_label = True


@dataclass(frozen=True)
class Knob:
    """A number that is turned from outside while the stream runs: Executor.set(). Its task gets it as a float."""

    initial: float
    least: float = -inf
    most: float = inf

    def __post_init__(self) -> None:
        for name in ("initial", "least", "most"):
            number(name, getattr(self, name), error=GraphError)


@dataclass(frozen=True)
class TaskSpec:
    """A task that is not in a graph yet; see task(), source() and sink()."""

    name: str
    sockets: Mapping[str, Socket] | None  # None: as what it is chained to
    callable: Any
    form: CallForm
    kind: Literal["task", "source", "sink"]
    takes_number: bool = False
    pure: bool = False
    may_skip: bool = False
    may_repeat: bool = False
    may_wait: bool = False
    keep: Keep = None
    at_end: bool = False
    knobs: Mapping[str, Knob] = field(default_factory=dict)
    process: bool = False


@dataclass(frozen=True)
class SocketRef:
    """A socket of a module in a graph, for Graph.bind()."""

    graph: Graph
    module: int
    name: str


class Module:
    """A task that is in a graph; its sockets are attributes: `noise.x`, or `noise["x"]`."""

    def __init__(self, graph: Graph, number: int) -> None:
        self._graph = graph
        self._number = number

    @property
    def name(self) -> str:
        """What messages, profiles and schedules call it."""
        return self._graph._core.module_name(self._number)

    @property
    def sockets(self) -> dict[str, tuple[str, int]]:
        """Type and elements per frame of each socket."""
        return {name: (dtype, count) for name, _, dtype, count in self._graph._core.sockets(self._number)}

    def __getitem__(self, socket: str) -> SocketRef:
        if socket not in self.sockets:
            raise GraphError(f"module '{self.name}' has no socket '{socket}': it has {', '.join(self.sockets)}")
        return SocketRef(self._graph, self._number, socket)

    def __getattr__(self, socket: str) -> SocketRef:
        if socket.startswith("_"):
            raise AttributeError(socket)
        try:
            return self[socket]
        except GraphError as error:
            raise AttributeError(str(error)) from None

    def __repr__(self) -> str:
        sockets = ", ".join(f"{name}: {dtype} x {count}" for name, (dtype, count) in self.sockets.items())
        return f"<Module {self.name} ({sockets})>"


class Graph:
    """A stream program: tasks, and the bindings between their sockets."""

    def __init__(self, name: str = "graph") -> None:
        self._core = _core.Graph(text("name", name))

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def units(self) -> list[str]:
        """The chain that schedulers see. Throws GraphError with every fault of the graph."""
        return self._core.units()

    def add(self, spec: TaskSpec) -> Module:
        """Puts a task into the graph."""
        instance("spec", spec, TaskSpec, "what task(), source() or sink() made")
        if spec.sockets is None:
            raise GraphError(f"{spec.kind} '{spec.name}' has no sockets: declare them, or let chain() find them")
        sockets = [
            (name, s.direction, s.dtype.num, list(s.shape), (s.label or name) if s.is_label else "")
            for name, s in spec.sockets.items()
        ]
        knobs = [(name, knob.initial, knob.least, knob.most) for name, knob in spec.knobs.items()]
        number = self._core.add(
            spec.name,
            sockets,
            knobs,
            _elsewhere(spec) if spec.process else spec.callable,
            spec.form,
            takes_number=spec.takes_number,
            gets_copies=spec.keep == "copy" and not spec.process,
            pure=spec.pure,
            may_skip=spec.may_skip,
            may_repeat=spec.may_repeat,
            may_wait=spec.may_wait,
            at_end=spec.at_end,
        )
        return Module(self, number)

    def bind(self, output: SocketRef | ArrayLike, to: SocketRef) -> None:
        """Feeds an input from an output, or with the same data on every frame."""
        if isinstance(output, SocketRef):
            self._check_own(output, to)
            self._core.bind(output.module, output.name, to.module, to.name)
            return
        self._check_own(to)
        if isinstance(output, Module):
            raise GraphError(f"bind() of module '{output.name}': give one of its sockets, {_sockets_of(output)}")
        given = np.asarray(output)
        native = given.dtype.newbyteorder("=")
        self._core.bind_constant(np.ascontiguousarray(given, native), to.module, to.name)

    def stream(self, output: SocketRef, to: SocketRef) -> None:
        """Feeds an input element by element, whatever the counts: tasks run as often as that takes."""
        self._check_own(output, to)
        self._core.stream(output.module, output.name, to.module, to.name)

    def chain(self, *parts: Module | TaskSpec) -> list[Module]:
        """Binds the outputs of each part to the inputs of the next, in order.

        A part that is not in the graph yet is added; a source or sink without sockets gets those of its neighbour.
        """
        for part in parts:
            instance("part", part, (Module, TaskSpec), "a module, or what task(), source() or sink() made")
            if isinstance(part, Module) and part._graph is not self:
                raise GraphError(f"module '{part.name}' is of graph '{part._graph.name}', not of '{self.name}'")
        resolved = [_resolved(parts, place) for place in range(len(parts))]
        modules = [self.add(part) if isinstance(part, TaskSpec) else part for part in resolved]
        for module, to in zip(modules, modules[1:]):
            self._core.chain(module._number, to._number)
        return modules

    def to_svg(self, schedule: Schedule | None = None) -> str:
        """A drawing: tasks and bindings, and the stages of a schedule."""
        from .scheduling import Schedule as Schedules

        given = None if schedule is None else instance("schedule", schedule, Schedules, "a tidemill.Schedule")
        return self._core.to_svg(given._core if given else None)

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except GraphError:  # not complete yet
            return None

    def _check_own(self, *sockets: SocketRef) -> None:
        for socket in sockets:
            if isinstance(socket, Module):
                raise GraphError(f"bind() of module '{socket.name}': give one of its sockets, {_sockets_of(socket)}")
            instance("socket", socket, SocketRef, "a module's socket, like noise.x")
            if socket.graph is not self:
                raise GraphError(f"socket '{socket.name}' is of graph '{socket.graph.name}', not of '{self.name}'")


def task(
    function: Callable[..., Any] | Iterator[Any],
    sockets: Mapping[str, Socket] | None = None,
    /,
    *,
    name: str | None = None,
    pure: bool = False,
    may_skip: bool = False,
    may_repeat: bool = False,
    may_wait: bool = False,
    keep: Keep = None,
    at_end: bool = False,
    process: bool = False,
    **named: Socket | Knob,
) -> TaskSpec:
    """A task from a function that takes an array for each socket: `task(f, x=In(np.float32, 64), y=Out(...))`.

    An argument called `frame` that is no socket gets the frame's number. The function returns nothing or a Flow.
    Instead of a function: an object with state and `__call__`, or a generator function without arguments that gets the
    arrays from each yield (`x, y = yield`).

    sockets: instead of keywords, for names that this function needs itself.
    pure: several threads may call it, frames in any order, and what it gives depends on its inputs alone. Else it is
        sequential: one thread at a time, frames in order.
    may_skip, may_repeat: what it promises to return besides Flow.OK.
    may_wait: it may wait for what is outside of the graph: a socket, a queue, a clock. Dynamic then calls it when there
        is nothing else to do.
    keep: "copy" for who keeps arrays beyond the call: it gets its own. Else that ends the run.
    at_end: it is called once more behind the stream's last frame, with inputs of no elements, and may give a frame.
    process: the function works in a process of its own, on copies of the arrays in shared memory: for long calls that
        hold the interpreter's lock. It has to be importable there: a function or an object of a module, and a program
        that is run as a file adds it under `if __name__ == "__main__"`.

    A Knob among the keywords is a number behind the arrays, by which the function may be turned while the stream runs.
    """
    return _spec(
        "task",
        function,
        sockets,
        named,
        name,
        pure,
        may_skip,
        may_repeat,
        keep,
        may_wait=may_wait,
        at_end=at_end,
        process=process,
    )


def source(
    function: Callable[..., Any] | Iterable[Any],
    sockets: Mapping[str, Socket] | None = None,
    /,
    *,
    name: str | None = None,
    may_wait: bool = False,
    keep: Keep = None,
    process: bool = False,
    **named: Socket | Knob,
) -> TaskSpec:
    """A task that begins frames: a function that fills its arrays, or something to iterate over.

    Each item is written into the output; the stream ends with the items, or when the function returns Flow.STOP.
    Without sockets it gives what its neighbour in Graph.chain() takes. may_wait, process: see task().
    """
    return _spec(
        "source", function, sockets, named, name, False, False, False, keep, may_wait=may_wait, process=process
    )


def sink(
    function: Callable[..., Any],
    sockets: Mapping[str, Socket] | None = None,
    /,
    *,
    name: str | None = None,
    may_wait: bool = False,
    keep: Keep = None,
    at_end: bool = False,
    process: bool = False,
    **named: Socket | Knob,
) -> TaskSpec:
    """A task that gives nothing on. Without sockets it takes what its neighbour in Graph.chain() gives.

    at_end: it is called once more behind the stream's last frame, with inputs of no elements.
    may_wait, process: see task().
    """
    consume = function if process else _without_result(function)
    return _spec(
        "sink",
        consume,
        sockets,
        named,
        name,
        False,
        False,
        False,
        keep,
        function,
        may_wait=may_wait,
        at_end=at_end,
        process=process,
    )


def _spec(
    kind: Literal["task", "source", "sink"],
    function: Any,
    sockets: Mapping[str, Socket] | None,
    named: Mapping[str, Socket | Knob],
    name: str | None,
    pure: bool,
    may_skip: bool,
    may_repeat: bool,
    keep: Keep,
    original: Any = None,
    *,
    may_wait: bool = False,
    at_end: bool = False,
    process: bool = False,
) -> TaskSpec:
    if keep not in (None, "copy"):
        raise GraphError(f'keep={keep!r}: give "copy", or leave it out')
    name = text("name", name) if name else _name_of(original or function, kind)
    for each in (function, original, getattr(original or function, "__call__", None)):
        if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) or inspect.isasyncgen(each):
            raise GraphError(f"{kind} '{name}' is asynchronous, and nobody would await it: give a plain function")
    knobs = {each: what for each, what in named.items() if isinstance(what, Knob)}
    others = {each: what for each, what in named.items() if not isinstance(what, Knob)}
    declared: dict[str, Socket] | None = {**(sockets or {}), **others} or None
    for socket, what in (declared or {}).items():
        if not isinstance(what, Socket):
            raise GraphError(f"socket '{socket}' of {kind} '{name}' is {what!r}: give In, Out, Forward, Label or Knob")
    if kind == "task" and declared is None:
        raise GraphError(f"task '{name}' has no sockets: give for instance x=In(np.float32, 64)")
    form, target = _called(kind, name, function)
    takes_number = False
    if form == CallForm.FUNCTION:
        declared, takes_number = _ordered(kind, name, original or function, declared, list(knobs))
    elif knobs:
        raise GraphError(f"{kind} '{name}' has knobs ({', '.join(knobs)}), which only functions get: give one")
    if process and form != CallForm.FUNCTION:
        raise GraphError(f"{kind} '{name}' iterates, which no other process can: give a function or an object")
    if form == CallForm.GENERATOR and pure:
        raise GraphError(f"task '{name}' is a generator, which has a state: it cannot be pure")
    return TaskSpec(
        name,
        declared,
        target,
        form,
        kind,
        takes_number=takes_number,
        pure=pure,
        may_skip=may_skip,
        may_repeat=may_repeat,
        may_wait=may_wait,
        keep=keep,
        at_end=at_end,
        knobs=knobs,
        process=process,
    )


def _elsewhere(spec: TaskSpec) -> ProcessTask:
    from .process_task import ProcessTask  # much of the standard library
    from .task_process import Place

    places = [
        Place(name, s.dtype, s.shape, s.direction != Direction.OUT, s.direction != Direction.IN)
        for name, s in (spec.sockets or {}).items()
    ]
    gets_copies = spec.keep == "copy" or not _core.lends_arrays
    return ProcessTask(spec.name, spec.callable, places, gets_copies=gets_copies, is_sink=spec.kind == "sink")


def _sockets_of(module: Module) -> str:
    return " or ".join(f"{module.name}.{name}" for name in module.sockets) or "of which it has none"


def _name_of(function: Any, kind: str) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() and name not in ("range", "list", "tuple") else kind


def _called(kind: str, name: str, function: Any) -> tuple[CallForm, Any]:
    if kind == "source":
        if inspect.isgeneratorfunction(function):
            return CallForm.ITEMS, function()
        if not callable(function):
            return CallForm.ITEMS, iter(function)
    elif inspect.isgeneratorfunction(function):
        return _called(kind, name, function())
    elif inspect.isgenerator(function):
        if inspect.getgeneratorstate(function) == inspect.GEN_CREATED:
            try:
                next(function)  # to its first yield
            except StopIteration:
                raise GraphError(f"{kind} '{name}' never yields, where it would get its arrays") from None
        return CallForm.GENERATOR, function
    if not callable(function):
        raise GraphError(f"{kind} '{name}' cannot be called: it is a {type(function).__name__}")
    return CallForm.FUNCTION, function


def _ordered(
    kind: str, name: str, function: Any, declared: dict[str, Socket] | None, knobs: list[str]
) -> tuple[dict[str, Socket] | None, bool]:
    """The sockets in the order of the function's arguments, and whether it takes the frame's number behind them.

    Between the two it takes the knobs, in the order in which they are declared.
    """
    if isinstance(function, np.ufunc):  # its outputs are arguments, too, which its signature does not tell
        return declared, False
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of those written in C
        return declared, False
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return declared, False
    names = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY and p.default is p.empty]
    takes_number = bool(names) and names[-1] == "frame" and "frame" not in (declared or {})
    wanted = names[:-1] if takes_number else names
    if knobs:
        if wanted[len(wanted) - len(knobs) :] != knobs:
            raise GraphError(
                f"{kind} '{name}' takes {', '.join(wanted)}: behind the arrays it gets its knobs, {', '.join(knobs)}"
            )
        wanted = wanted[: len(wanted) - len(knobs)]
    if declared is None:
        return None, takes_number
    if len(wanted) != len(declared):
        raise GraphError(
            f"{kind} '{name}' takes {len(wanted)} arrays ({', '.join(wanted)}) and has {len(declared)} sockets "
            f"({', '.join(declared)}): give one for each"
        )
    if set(wanted) == set(declared):
        return {each: declared[each] for each in wanted}, takes_number
    return declared, takes_number


def _without_result(function: Any) -> Any:
    """A sink's result is nobody's, so any will do; a Flow counts."""
    if not callable(function) or inspect.isgeneratorfunction(function):
        return function

    def consume(*arrays: Any) -> Flow | None:
        result = function(*arrays)
        return result if isinstance(result, Flow) else None

    return consume


def _resolved(parts: Sequence[Module | TaskSpec], place: int) -> Module | TaskSpec:
    part = parts[place]
    if not isinstance(part, TaskSpec) or part.sockets is not None:
        return part
    neighbour = place + 1 if part.kind == "source" else place - 1
    if not 0 <= neighbour < len(parts):
        raise GraphError(f"{part.kind} '{part.name}' has no neighbour in the chain: declare its sockets")
    direction = Direction.OUT if part.kind == "source" else Direction.IN
    others = _facing(parts[neighbour], Direction.IN if part.kind == "source" else Direction.OUT)
    if not others:
        raise GraphError(f"{part.kind} '{part.name}' gets its sockets from its neighbour, which has none: declare them")
    made = Out if direction == Direction.OUT else In
    return TaskSpec(**{**part.__dict__, "sockets": {name: made(s.dtype, s.shape) for name, s in others.items()}})


def _facing(part: Module | TaskSpec, direction: Direction) -> dict[str, Socket]:
    """The sockets of a part that look towards a neighbour."""
    if isinstance(part, TaskSpec):
        return {
            name: socket
            for name, socket in (part.sockets or {}).items()
            if socket.direction in (direction, Direction.FORWARD) and not socket.is_label
        }
    names = {"cf32": "complex64", "cf64": "complex128"}
    return {
        name: In(names.get(dtype, dtype), count)
        for name, way, dtype, count in part._graph._core.sockets(part._number)
        if way in (direction, Direction.FORWARD)
    }


