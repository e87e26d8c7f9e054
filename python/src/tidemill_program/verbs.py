"""The programs behind `tidemill sweep` and the other verbs that are written in Python."""

from __future__ import annotations

import importlib
import signal


def archive() -> int:
    """`tidemill archive`"""
    return _run("tidemill.archive.command")


def bench_python() -> int:
    """`tidemill bench python`"""
    return _run("tidemill.bench.python")


def bench_sweep() -> int:
    """`tidemill bench sweep`"""
    return _run("tidemill.bench.sweep")


def sweep() -> int:
    """`tidemill sweep`"""
    return _run("tidemill.sweep.command")


# Ctrl-C while all is still being loaded ends it without a traceback.
def _run(module: str) -> int:
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    main = importlib.import_module(module).main
    signal.signal(signal.SIGINT, before)
    return int(main())
