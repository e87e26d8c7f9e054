"""Worker processes of this machine, each on its own: one that dies takes nobody with it."""

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
from typing import Any

from .lent import Lender, Place, do_packed


class Processes(Executor):
    """An executor of single processes. A future whose process died throws BrokenProcessPool; another takes its place."""

    def __init__(self, workers: int) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tidemill.sweep.work"])
        self._lock = threading.Lock()
        self._pools = [self._new_pool() for _ in range(workers)]
        self._waiting = [0] * workers
        self._lender = Lender()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """To the process with the least to do. Large arrays go there through memory that both see, and can be read only."""
        packed, place = self._lender.pack(fn, args, kwargs)
        with self._lock:
            k = min(range(len(self._pools)), key=self._waiting.__getitem__)
            self._waiting[k] += 1
        with _main_left_alone():
            try:
                future = self._pools[k].submit(do_packed, packed)
            except BrokenProcessPool:
                self._pools[k].shutdown(wait=False)
                self._pools[k] = self._new_pool()
                future = self._pools[k].submit(do_packed, packed)
        future.add_done_callback(lambda _: self._done(k, place))
        return future

    def process_ids(self) -> list[int]:
        """Of the processes that have begun."""
        return [process for pool in self._pools for process in list(pool._processes or ())]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=cancel_futures)
        if wait:
            for pool in self._pools:
                pool.shutdown(wait=True)
        self._lender.close()

    def kill(self) -> None:
        """Ends all at once; what they are at is lost."""
        for process in self.process_ids():
            _kill(process)

    def _done(self, k: int, place: Place | None) -> None:
        with self._lock:
            self._waiting[k] -= 1
        if place is not None:
            self._lender.give_back(place)

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=self._context, initializer=_begin)


# What is sent lies in modules. Without this a worker would begin by running the user's script once more.
@contextmanager
def _main_left_alone() -> Iterator[None]:
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    try:
        main.__spec__ = None
        vars(main).pop("__file__", None)
        yield
    finally:
        vars(main).update(hidden)


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


# Ctrl-C of a terminal reaches workers, too: the sweep decides what it means. And a worker whose sweep was killed is of
# no use to anybody.
def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
