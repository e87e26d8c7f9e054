"""What the programs behind `tidemill sweep`, `archive` and so on have in common."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from . import Error, IoError, JobFailed, WrongUsage
from .sweep.settings import SweepError
from .sweep.table import printable

DONE, JOB_FAILED, WRONG_USAGE, UNUSABLE_INPUT, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses, which mean what those of `tidemill` mean."""


def new_parser(verb: str, description: str, example: str | None = None) -> argparse.ArgumentParser:
    """Of the program behind `tidemill VERB`."""
    epilog = f"Example: {example}" if example else None
    return _Parser(prog=f"tidemill {verb}", description=description, epilog=epilog, allow_abbrev=False)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def run_program(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], int], words: list[str] | None = None
) -> int:
    """Does the work that the words ask for, the process's own if none are given. Returns the exit status: an error becomes
    a sentence on standard error, and the status that tells its kind."""
    _make_streams_usable()
    given = parser.parse_args(words)
    try:
        return work(given)
    except Error as error:
        tell(f"tidemill: {error}")
        if isinstance(error, WrongUsage):
            return WRONG_USAGE
        return UNUSABLE_INPUT if isinstance(error, (SweepError, IoError)) else JOB_FAILED
    except OSError as error:
        tell(f"tidemill: {error}")
        return JOB_FAILED
    except MemoryError:
        tell("tidemill: there is too little memory")
        return JOB_FAILED
    except KeyboardInterrupt:
        tell("tidemill: interrupted")
        return INTERRUPTED


# A program that was begun without standard streams has none in Python, and names that its encoding lacks are no error.
def _make_streams_usable() -> None:
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def tell(line: str) -> None:
    """On standard error, whatever names are in it."""
    print(printable(line), file=sys.stderr, flush=True)


def write_out(text: str) -> None:
    """All of it on standard output. Throws JobFailed where that cannot be."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = open(os.devnull, "w")  # else what is left is tried again at the end
        raise JobFailed(f"standard output cannot be written: {error.strerror}") from None


def add_signal_options(parser: argparse.ArgumentParser, symbol_rate: str) -> None:
    """What a search may answer. `symbol_rate`: what it is without the option."""
    parser.add_argument("--symbol-rate", type=number_or_auto, metavar="HZ", help=symbol_rate)
    parser.add_argument("--rolloff", type=number_or_auto, default=0.20, metavar="NUMBER", help="or auto (default: 0.2)")
    parser.add_argument("--gold", type=gold_or_auto, default=0, metavar="N", help="gold code, or auto (default: 0)")


def number_or_auto(text: str) -> float | str:
    """Of an option that a search may answer."""
    if text == "auto":
        return text
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number <= 1e12:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number above 0, or auto")
    return number


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
