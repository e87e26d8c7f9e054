"""Worker processes of this machine, each on its own: one that dies takes nobody with it."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any


class Processes(Executor):
    """An executor of single processes. A future whose process died throws BrokenProcessPool; another takes its place.

    What is submitted is on its way at once: the caller's thread sends it, and one thread for each process takes what comes
    back. So a call costs this process's cores little beside those that compute.
    """

    def __init__(self, workers: int) -> None:
        self._lock = threading.Lock()
        self._all: list[_Process | None] = [None] * workers
        self._is_shut = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """To the process with the least to do."""
        call = _Call(pickle.dumps((fn, args, kwargs), protocol=5))
        with self._lock:
            if self._is_shut:
                raise RuntimeError("its processes have been ended")
            while not self._least_busy().send(call):
                pass
        return call.future

    def process_ids(self) -> list[int]:
        """Of the processes that have begun."""
        return [each.process_id for each in list(self._all) if each is not None and not each.is_broken]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """What was submitted is done; what is cancelled, too, but nobody is told."""
        with self._lock:
            self._is_shut = True
            ended = [each for each in self._all if each is not None]
            for each in ended:
                each.end(cancel_futures)
        if wait:
            for each in ended:
                each.wait()

    def kill(self) -> None:
        """Ends all at once; what they are at is lost."""
        for process in self.process_ids():
            _kill(process)

    # Of those with as little, the first; one that is not there yet has nothing to do.
    def _least_busy(self) -> _Process:
        k = min(range(len(self._all)), key=lambda each: self._waiting(each))
        found = self._all[k]
        if found is None or found.is_broken:
            found = self._all[k] = _Process()
        return found

    def _waiting(self, k: int) -> int:
        process = self._all[k]
        return 0 if process is None else process.waiting


class _Call:
    """A function with its arguments, pickled, and the future of its result."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.future: Future[Any] = Future()

    def answer(self, text: bytes | None) -> None:
        """None: nobody will."""
        gone = BrokenProcessPool("its process was terminated abruptly")
        settle(self.future, pickle.dumps((False, gone)) if text is None else text)


def settle(future: Future[Any], answer: bytes) -> None:
    """Gives it what another process has pickled: whether there is a result, and that, or the exception."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        fits, found = pickle.loads(answer)
    except Exception as error:
        fits, found = False, error
    if fits:
        future.set_result(found)
    else:
        future.set_exception(found)


class _Process:
    """One process, and the calls that it has: answers come in the order of calls."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tidemill.sweep.work"])
        self._lock = threading.Lock()
        self._calls: deque[_Call] = deque()
        self.is_broken = False
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with main_left_alone(), no_interrupts():
            self._process.start()
        theirs.close()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def process_id(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def waiting(self) -> int:
        return len(self._calls)

    def send(self, call: _Call) -> bool:
        """False: it is dead, and nothing was sent."""
        with self._lock:
            if self.is_broken:
                return False
            self._calls.append(call)
        try:
            self._connection.send_bytes(call.text)
        except OSError:
            pass  # it has just died, which the reader finds out
        return True

    def end(self, cancel: bool) -> None:
        """Once it has done what it has."""
        if cancel:
            for call in list(self._calls):
                call.future.cancel()
        try:
            self._connection.send_bytes(_NO_MORE)
        except OSError:
            pass

    def wait(self) -> None:
        self._reader.join()

    def _read(self) -> None:
        try:
            while True:
                self._take(self._connection.recv_bytes())
        except (EOFError, OSError):
            pass
        with self._lock:
            self.is_broken = True
        self._process.join()
        while self._calls:
            self._take(None)

    def _take(self, answer: bytes | None) -> None:
        with self._lock:
            call = self._calls.popleft()
        call.answer(answer)


_NO_MORE = b""


# In the other process, until there is no more to do.
def _serve(connection: Connection) -> None:
    _begin()
    while True:
        try:
            text = connection.recv_bytes()
        except EOFError:
            return
        if text == _NO_MORE:
            return
        connection.send_bytes(_answer_to(text))


def _answer_to(text: bytes) -> bytes:
    try:
        fn, args, kwargs = pickle.loads(text)
        answer: tuple[bool, Any] = True, fn(*args, **kwargs)
    except BaseException as error:
        answer = False, error
    try:
        return pickle.dumps(answer, protocol=5)
    except Exception as error:
        return pickle.dumps((False, TypeError(f"what came of it cannot be sent: {error}")))


# What is sent lies in modules. Without this a worker would begin by running the user's script once more.
@contextmanager
def main_left_alone() -> Iterator[None]:
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    try:
        main.__spec__ = None
        vars(main).pop("__file__", None)
        yield
    finally:
        vars(main).update(hidden)


# The server that makes the processes would end by Ctrl-C as long as it begins; what it makes inherits this.
@contextmanager
def no_interrupts() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# With what it runs; one that has hardly begun may not lead its group yet.
def _kill(process: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


# Ctrl-C of a terminal reaches workers, too: the sweep decides what it means. And a worker whose sweep was killed is of
# no use to anybody.
def _begin() -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, lambda *_: None)  # which programs that it runs do not inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os.killpg(0, signal.SIGKILL)
