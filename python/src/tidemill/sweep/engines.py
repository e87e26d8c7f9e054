"""Who does the work: processes of this machine, or the engine of a cluster, all behind Executor.

MPI, Ray and Dask execute what they are sent: on a private network or through a tunnel only.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .. import _core
from .processes import Processes
from .ray_executor import RayExecutor

ENGINES = ["processes", "mpi", "ray", "dask"]
_MPI_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")


@dataclass(frozen=True)
class Engine:
    """Where a sweep hands its ranges to."""

    executor: Executor
    workers: int
    text: str
    """Which, and why."""
    alike: bool = False
    """Whether all workers are on this machine."""


def engine_here() -> tuple[str, str]:
    """The engine that the environment asks for, and by which variable."""
    for name in _MPI_SIZES:
        size = os.environ.get(name, "")
        if size.isascii() and size.isdigit() and size not in ("0", "1"):
            return "mpi", f"{name} is set"
    if os.environ.get("RAY_ADDRESS"):
        return "ray", "RAY_ADDRESS is set"
    return "processes", ""


@contextmanager
def opened(name: str | None, workers: int | None) -> Iterator[Engine | None]:
    """The engine, as long as it is needed; None on ranks of MPI that were workers, and are done. Throws JobFailed."""
    chosen, why = engine_here() if name is None else (name, "")
    with _OPEN[chosen](workers, f"{chosen} ({why})" if why else chosen) as engine:
        yield engine


def handed_in(executor: Executor, workers: int | None) -> Engine:
    """Any other executor; how many work behind it, some know themselves."""
    known = workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return Engine(executor, known, type(executor).__name__)


def _module(name: str, package: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise _core.JobFailed(f"the engine needs the Python package {package}: {error}") from None


@contextmanager
def _processes(workers: int | None, text: str) -> Iterator[Engine]:
    count = workers or len(os.sched_getaffinity(0))
    executor = Processes(count)
    try:
        yield Engine(executor, count, f"{count} {text}", alike=True)
    finally:
        executor.kill()
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _mpi(workers: int | None, text: str) -> Iterator[Engine | None]:
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    futures = _module("mpi4py.futures", "mpi4py")
    world = _module("mpi4py.MPI", "mpi4py").COMM_WORLD
    count = world.Get_size() - 1
    with futures.MPICommExecutor(world, root=0) as executor:
        yield None if executor is None else Engine(executor, max(count, 1), f"{count} workers of {text}")


@contextmanager
def _ray(workers: int | None, text: str) -> Iterator[Engine]:
    _module("ray", "ray")
    executor = RayExecutor(os.environ.get("RAY_ADDRESS", ""))
    try:
        count = workers or max(executor.processors, 1)
        yield Engine(executor, count, f"{count} workers of {text}")
    finally:
        executor.shutdown()


@contextmanager
def _dask(workers: int | None, text: str) -> Iterator[Engine]:
    distributed = _module("distributed", "distributed")
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    if not address:
        raise _core.JobFailed("Dask: say where its scheduler is, for instance DASK_SCHEDULER_ADDRESS=tcp://head:8786")
    try:
        client = distributed.Client(address, timeout=5)
    except (OSError, TimeoutError, ValueError) as error:
        raise _core.JobFailed(f"Dask's scheduler {address} cannot be reached: {error}") from None
    with client:
        count = workers or sum(client.nthreads().values())
        if count == 0:
            raise _core.JobFailed(f"Dask's scheduler {address} has no workers: start some")
        executor = client.get_executor(retries=0, pure=False)
        yield Engine(executor, count, f"{count} workers of {text}")


_OPEN = {"processes": _processes, "mpi": _mpi, "ray": _ray, "dask": _dask}
