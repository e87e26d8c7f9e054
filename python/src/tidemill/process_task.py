"""Tasks in processes of their own: functions are called there, on arrays in memory that both processes see."""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context, reduction
from typing import Any

import numpy as np

from . import _core
from ._core import Flow
from .task_process import Answer, Array, Place, Work, arrays_in, bytes_of, map_memory, serve

_PATIENCE_S = 5
_interpreter_ends = threading.Event()


# multiprocessing ends its processes when the interpreter ends: by then no stream may need them any more. What is
# registered last is called first.
@atexit.register
def _end_streams() -> None:
    _core.end_live_runs()
    _interpreter_ends.set()


class ProcessTask:
    """Is called instead of a function that another process has; without the interpreter's lock while that works.

    A task that several threads may be in gets a process for each of them that is in it at the same time.
    """

    def __init__(self, name: str, function: Any, places: Sequence[Place], *, gets_copies: bool, is_sink: bool) -> None:
        try:
            pickled = pickle.dumps(function)
        except Exception as error:
            raise _core.GraphError(
                f"task '{name}' cannot go into a process of its own: give a function or an object of a module, which "
                f"another process can import ({error})"
            ) from error
        self._name = name
        self._work = Work(pickled, places, gets_copies, is_sink)
        self._idle = [_Worker(name, self._work)]  # it starts while the program goes on

    def __call__(self, *arguments: Any) -> Any:
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._name, self._work)
        try:
            return worker.call(arguments)
        finally:
            self._idle.append(worker)


class _Worker:
    """A process and the memory that it shares with this one. It ends when this does, or is no longer needed."""

    def __init__(self, name: str, work: Work) -> None:
        self._places = work.places
        memory = os.memfd_create("tidemill", os.MFD_CLOEXEC)
        try:
            os.ftruncate(memory, bytes_of(work.places))
            self._arrays = arrays_in(map_memory(memory, work.places), work.places)
            context = get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs, work), name=f"tidemill-{name}", daemon=True)
            with _ctrl_c_blocked():  # it is for this process to end the run
                self._process.start()
            theirs.close()
            reduction.send_handle(self._pipe, memory, self._process.pid)
        finally:
            os.close(memory)
        self._has_begun = False
        self._awaited = 1  # answers: the first one says that it has begun
        self._poll = select.poll()
        self._poll.register(self._pipe.fileno(), select.POLLIN)
        self._poll.register(self._process.sentinel, select.POLLIN)
        # It ends where it finds nobody at the other end. When the interpreter ends, multiprocessing sees to it.
        weakref.finalize(self, self._pipe.close).atexit = False

    def call(self, arguments: Sequence[Any]) -> Any:
        while self._awaited > 0:  # also of a call from which Ctrl-C has returned
            _result_of(self._receive(), ())
        given = arguments[: len(self._places)]
        for place, here, there in zip(self._places, given, self._arrays, strict=True):
            if place.is_read and here.size > 0:
                np.copyto(there, here)
        self._send(([array.size > 0 for array in given], arguments[len(given) :]))
        result = _result_of(self._receive(), given)
        for place, here, there in zip(self._places, given, self._arrays, strict=True):
            if place.is_written and here.size > 0:
                np.copyto(here, there)
        return result

    def _send(self, request: Any) -> None:
        try:
            self._pipe.send(request)
        except OSError:
            raise self._end() from None
        self._awaited += 1

    def _receive(self) -> Answer:
        ready = [file for file, _ in self._poll.poll()]  # an answer, or the end of the process
        if _interpreter_ends.is_set():
            threading.Event().wait()  # of a stream that was left behind: nobody is there to be told
        try:
            if self._pipe.fileno() in ready:
                answer: Answer = self._pipe.recv()
                self._awaited -= 1
                self._has_begun = True
                return answer
        except (EOFError, OSError):
            pass
        raise self._end()

    def _end(self) -> _core.RunError:
        """The end of the process as an error."""
        self._process.join(_PATIENCE_S)
        if self._process.is_alive():  # it has closed what it was given, and goes on
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"has ended with status {code}"
        if not self._has_begun:
            how += " before it began: a program that starts processes does so under if __name__ == '__main__'"
        return _core.RunError(f"its process {how}")


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result_of(answer: Answer, arrays: Sequence[Array]) -> Any:
    """What the function would have given here."""
    if answer.raised is not None:
        raise pickle.loads(answer.raised)
    if answer.kept is not None:
        raise _core.RunError(
            f"it kept the array of {answer.kept} beyond the call, where the next frame comes: keep a copy "
            f'({answer.kept}.copy()), or say keep="copy"'
        )
    if answer.flow is not None:
        return Flow[answer.flow]
    if answer.array is not None and arrays:
        return arrays[answer.array]
    return None if answer.other is None else type(answer.other, (), {})()  # who called refuses it
