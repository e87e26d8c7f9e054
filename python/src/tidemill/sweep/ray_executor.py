"""Ray as an executor, used by a process of its own: Ray ends whoever uses it where its cluster goes away."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from .. import _core
from .processes import main_left_alone, no_interrupts


class RayExecutor(Executor):
    """Hands calls to a cluster. Where that goes away, its futures throw BrokenProcessPool, and nothing more is taken."""

    def __init__(self, address: str) -> None:
        """Empty: a cluster of this machine alone is begun. Throws JobFailed where it cannot be reached."""
        self._lock = threading.Lock()
        self._calls: dict[int, Future[Any]] = {}
        self._count = 0
        self._is_gone = False
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, address), daemon=True)
        with main_left_alone(), no_interrupts():
            self._process.start()
        theirs.close()
        self.processors = self._begun()
        threading.Thread(target=self._read, daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """To the cluster, by the process beside this one."""
        text = pickle.dumps((fn, args, kwargs), protocol=5)
        future: Future[Any] = Future()
        with self._lock:
            if self._is_gone:
                raise RuntimeError("Ray's cluster has gone away")
            self._count += 1
            self._calls[self._count] = future
            try:
                self._connection.send((self._count, text))
            except OSError:
                pass  # the reader finds out
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """At once: what is out is lost."""
        self._process.kill()
        self._process.join()

    def _begun(self) -> int:
        try:
            answer = self._connection.recv()
        except EOFError:
            answer = "its process has ended"
        except BaseException:
            self.shutdown()
            raise
        if isinstance(answer, str):
            self.shutdown()
            raise _core.JobFailed(f"Ray cannot be reached: {answer}: is RAY_ADDRESS right?")
        return int(answer)

    def _read(self) -> None:
        try:
            while True:
                self._take(*self._connection.recv())
        except (EOFError, OSError):
            pass
        with self._lock:
            self._is_gone = True
            numbers = list(self._calls)
        for number in numbers:
            self._take(number, pickle.dumps((False, BrokenProcessPool("Ray's cluster has gone away"))))

    def _take(self, number: int, text: bytes) -> None:
        with self._lock:
            future = self._calls.pop(number)
        _settle(future, text)


# The answer is pickled: whether there is a result, and that, or the exception.
def _settle(future: Future[Any], answer: bytes) -> None:
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


# Ray itself would try for minutes, and then end the whole process.
def _look_for(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()


# In the process beside, until the other side is no more.
def _serve(connection: Connection, address: str) -> None:
    signal.signal(signal.SIGINT, lambda *_: None)
    os.dup2(2, 1)  # what Ray says of itself is none of the results
    ray: Any = importlib.import_module("ray")
    try:
        _look_for(address)
        ray.init(address or None, log_to_driver=False, logging_level="CRITICAL")
        connection.send(int(ray.cluster_resources().get("CPU", 1)))
    except Exception as error:
        connection.send(str(error) or type(error).__name__)
        return
    lock, call = threading.Lock(), ray.remote(max_retries=0)(_called)
    while True:
        try:
            number, text = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        _hand_on(call, text, partial(_send, lock, connection, number))


def _hand_on(call: Any, text: bytes, tell: Callable[[bytes], None]) -> None:
    def done(future: Future[Any]) -> None:
        error = future.exception()
        tell(_text_of((False, error) if error else (True, future.result())))

    try:
        call.remote(*pickle.loads(text)).future().add_done_callback(done)
    except Exception as error:
        tell(_text_of((False, error)))


# Ray's exceptions are of classes that it makes as it goes; what cannot be sent is sent as text.
def _text_of(answer: tuple[bool, Any]) -> bytes:
    try:
        if not answer[0]:
            pickle.loads(pickle.dumps(answer[1]))
        return pickle.dumps(answer, protocol=5)
    except Exception:
        return pickle.dumps((False, RuntimeError(str(answer[1]))))


def _send(lock: threading.Lock, connection: Connection, number: int, answer: bytes) -> None:
    with lock:
        try:
            connection.send((number, answer))
        except OSError:
            os._exit(0)


def _called(fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return fn(*args, **kwargs)
