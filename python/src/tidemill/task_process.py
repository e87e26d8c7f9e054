"""What a task's own process does: it is told where its arrays are, and calls the function while somebody asks."""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Flow

Array = NDArray[Any]


@dataclass(frozen=True)
class Place:
    """A socket, for who has only its memory."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    is_read: bool
    is_written: bool

    @property
    def size(self) -> int:
        """In bytes, whole cache lines."""
        return -(-self.dtype.itemsize * prod(self.shape) // 64) * 64


@dataclass(frozen=True)
class Work:
    """What the other process has to know of a task."""

    pickled: bytes  # there, so that what cannot be found there is told
    places: Sequence[Place]
    gets_copies: bool
    is_sink: bool


@dataclass(frozen=True)
class Answer:
    """What came of a call: the number of the array or the Flow that was returned, or what is wrong."""

    flow: str | None = None
    array: int | None = None
    other: str | None = None  # the name of a type that no task may return
    raised: bytes | None = None
    kept: str | None = None  # an array


def bytes_of(places: Sequence[Place]) -> int:
    return sum(place.size for place in places) or 1


def map_memory(memory: int, places: Sequence[Place]) -> mmap.mmap:
    return mmap.mmap(memory, bytes_of(places))


def arrays_in(mapped: mmap.mmap, places: Sequence[Place]) -> list[Array]:
    """One behind the other; they keep the memory alive."""
    starts = np.cumsum([0] + [place.size for place in places])
    return [np.ndarray(place.shape, place.dtype, mapped, int(start)) for place, start in zip(places, starts)]


def serve(pipe: Connection, work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    memory = reduction.recv_handle(pipe)
    mapped = map_memory(memory, work.places)
    os.close(memory)
    try:
        function = pickle.loads(work.pickled)
    except Exception as error:
        pipe.send(Answer(raised=_portable(error)))
        return
    pipe.send(Answer())
    while True:
        try:
            present, numbers = pipe.recv()
        except (EOFError, OSError):  # nobody needs it any more
            return
        try:
            pipe.send(_call(function, work, mapped, present, numbers))
        except OSError:
            return


def _call(
    function: Callable[..., Any], work: Work, mapped: mmap.mmap, present: Sequence[bool], numbers: Sequence[Any]
) -> Answer:
    lent = _lent_arrays(work.places, mapped, present)
    given = [array.copy() for array in lent] if work.gets_copies else lent
    try:
        result = function(*given, *numbers)
        if work.gets_copies:
            _bring_back(work.places, given, lent)
    except BaseException as error:
        return Answer(raised=_portable(error))
    answer = Answer() if work.is_sink else _described(result, given)
    del result
    if work.gets_copies:
        return answer
    kept = _kept(work.places, lent)
    return answer if kept is None else Answer(kept=kept)


def _lent_arrays(places: Sequence[Place], mapped: mmap.mmap, present: Sequence[bool]) -> list[Array]:
    """New ones for each call, whatever was done to the last ones."""
    lent = arrays_in(mapped, places)
    for number, place in enumerate(places):
        if not present[number]:
            lent[number] = np.empty(0, place.dtype)
        lent[number].flags.writeable = place.is_written
    return lent


def _described(result: Any, arrays: Sequence[Array]) -> Answer:
    if result is None:
        return Answer()
    if isinstance(result, Flow):
        return Answer(flow=result.name)
    same = next((place for place, array in enumerate(arrays) if array is result), None)
    return Answer(other=type(result).__name__) if same is None else Answer(array=same)


def _bring_back(places: Sequence[Place], given: Sequence[Array], lent: Sequence[Array]) -> None:
    for place, copy, array in zip(places, given, lent, strict=True):
        if not place.is_written:
            continue
        if copy.size != array.size:
            raise _core.RunError(
                f"it resized the array of {place.name}, which has a place of fixed size: give its socket another shape"
            )
        np.copyto(array, copy)


def _kept(places: Sequence[Place], lent: list[Array]) -> str | None:
    for number, place in enumerate(places):
        if _references(lent, number) == 0:
            continue
        gc.collect()  # a cycle is no fault
        in_tracebacks = _core.names_in_tracebacks(lent[number])  # neither is an exception
        if _references(lent, number) > in_tracebacks:
            return place.name
    return None


def _references(lent: list[Array], number: int) -> int:
    """Those beside the list's and that of the argument here."""
    return sys.getrefcount(lent[number]) - 2


def _portable(error: BaseException) -> bytes:
    """Pickled, with its traceback as a note, so that it can be raised in the process that asked."""
    within = error.__traceback__.tb_next if error.__traceback__ else None
    text = "In the process of its task:\n" + "".join(traceback.format_exception(type(error), error, within))
    try:
        error.add_note(text)
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
        return pickled
    except Exception:  # one that cannot be sent
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.add_note(text)
        return pickle.dumps(told)
