"""Work dealt to an engine, each piece until it has been done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from .. import _core
from ..sweep.engines import Engine

Call = tuple[Callable[..., Any], tuple[Any, ...]]
_TRIES = 4


class Calls:
    """A call whose worker died is made again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.lost = 0

    def all(self, calls: list[Call], take: Callable[[int, Any], None] | None = None) -> list[Any]:
        """Answers in the order of the calls; `take` gets each as soon as it is there. Throws JobFailed where one is lost again
        and again, or the engine is no more, and what a call throws of ours."""
        answers: list[Any] = [None] * len(calls)
        tries = [0] * len(calls)
        waiting = list(reversed(range(len(calls))))
        flying: dict[Future[Any], int] = {}
        try:
            while waiting or flying:
                while waiting and len(flying) < 2 * self._engine.workers:
                    k = waiting.pop()
                    flying[self._submitted(*calls[k])] = k
                done, _ = wait(flying, return_when=FIRST_COMPLETED)
                for future in done:
                    k = flying.pop(future)
                    if self._landed(future, k, tries):
                        answers[k] = future.result()
                        if take:
                            take(k, answers[k])
                    else:
                        waiting.append(k)
        finally:
            for future in flying:
                future.cancel()
        return answers

    def _submitted(self, call: Callable[..., Any], words: tuple[Any, ...]) -> Future[Any]:
        try:
            return self._engine.executor.submit(call, *words)
        except Exception as error:
            raise _core.JobFailed(f"the engine has gone away: {type(error).__name__}: {error}") from error

    def _landed(self, future: Future[Any], k: int, tries: list[int]) -> bool:
        error = future.exception()
        if isinstance(error, (_core.Error, KeyboardInterrupt)):
            raise error
        if error is None:
            return True
        self.lost += 1
        tries[k] += 1
        if tries[k] >= _TRIES:
            raise _core.JobFailed(
                f"a piece of work was lost {_TRIES} times: {type(error).__name__}: {error} "
                "(was a worker killed, or is there too little memory?)"
            ) from error
        return False
