"""Worker processes of this machine: a ProcessPoolExecutor each, so that one that dies takes no other's calls with it."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any


class Processes(Executor):
    """An executor of single processes. A future whose process died throws BrokenProcessPool; another takes its place."""

    def __init__(self, workers: int) -> None:
        self._lock = threading.Lock()
        self._all: list[_Process | None] = [None] * workers
        self._is_shut = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """To the process with the least to do. Throws RuntimeError after the end."""
        with self._lock, main_left_alone(), no_interrupts():
            if self._is_shut:
                raise RuntimeError("its processes have been ended")
            while True:
                k = min(range(len(self._all)), key=self._waiting)
                process = self._all[k] = self._all[k] or _Process()
                try:
                    return process.submit(fn, *args, **kwargs)
                except BrokenProcessPool:
                    self._all[k] = None

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more. Calls that were submitted are done first, but for those that are cancelled."""
        with self._lock:
            self._is_shut = True
        for each in self._all:
            if each is not None:
                each.executor.shutdown(wait, cancel_futures=cancel_futures)

    def kill(self) -> None:
        """Ends all processes, and the programs that they run, at once."""
        for each in self._all:
            if each is not None:
                each.kill()

    # A process that has not been started has nothing to do.
    def _waiting(self, k: int) -> int:
        process = self._all[k]
        return 0 if process is None else process.waiting


class _Process:
    """One process, and how many calls it has to answer."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tidemill.sweep.work"])
        theirs, self._life = context.Pipe(duplex=False)
        self.executor = ProcessPoolExecutor(1, context, _begin, (theirs,))
        self.waiting = 0

    def kill(self) -> None:
        self._life.close()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = self.executor.submit(fn, *args, **kwargs)
        self.waiting += 1
        future.add_done_callback(self._count)
        return future

    def _count(self, _: Future[Any]) -> None:
        self.waiting -= 1


# The functions that are called lie in modules: without this a process would begin by running the user's script once more.
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


# A process that is started here begins with Ctrl-C blocked, as does the server that makes such processes. The tracker of
# resources comes first, because Python unblocks Ctrl-C when it starts that.
@contextmanager
def no_interrupts() -> Iterator[None]:
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Ctrl-C of a terminal reaches these processes, too: the sweep decides what it means. And a process whose sweep was killed
# is of no use to anybody.
def _begin(life: Connection) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, lambda *_: None)  # which programs that it runs do not inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_after, args=(life,), daemon=True).start()


def _end_after(life: Connection) -> None:
    multiprocessing.connection.wait([life])  # until the other end is closed, or its process has died
    os.killpg(0, signal.SIGKILL)
