"""What the programs behind `tidemill sweep`, `archive`, `remote-rx` and so on have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from . import Error, IoError, WrongUsage
from .sweep.settings import SweepError

DONE, JOB_FAILED, WRONG_USAGE, UNUSABLE_INPUT, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses, which mean what those of `tidemill` mean."""


def status_of(work: Callable[[], int]) -> int:
    """Does the work. An error becomes a sentence on standard error, and the status that tells its kind."""
    try:
        return work()
    except Error as error:
        print(f"tidemill: {error}", file=sys.stderr)
        if isinstance(error, WrongUsage):
            return WRONG_USAGE
        return UNUSABLE_INPUT if isinstance(error, (SweepError, IoError)) else JOB_FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def number_or_auto(text: str) -> float | str:
    """Of an option that a search may answer."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number, or auto") from None


def gold_or_auto(text: str) -> int | str:
    """Of the option that says which scrambling."""
    if text == "auto":
        return text
    if text.isascii() and text.isdigit() and len(text) <= 6:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 0 to 262141, or auto")


def whole(text: str) -> int:
    """Of an option that counts workers."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 4096:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1 to 4096")
