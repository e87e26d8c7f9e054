"""What the programs behind `tidemill sweep`, `archive`, `remote-rx` and so on have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from . import Error, IoError, WrongUsage
from .sweep.settings import SweepError

DONE, JOB_FAILED, WRONG_USAGE, UNUSABLE_INPUT, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses, which mean what those of `tidemill` mean."""


def new_parser(verb: str, description: str, example: str | None = None) -> argparse.ArgumentParser:
    """Of the program behind `tidemill VERB`."""
    epilog = f"Example: {example}" if example else None
    return argparse.ArgumentParser(prog=f"tidemill {verb}", description=description, epilog=epilog, allow_abbrev=False)


def run_program(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], int], words: list[str] | None = None
) -> int:
    """Does the work that the words ask for, the process's own if none are given. Returns the exit status: an error becomes
    a sentence on standard error, and the status that tells its kind."""
    given = parser.parse_args(words)
    try:
        return work(given)
    except Error as error:
        print(f"tidemill: {error}", file=sys.stderr)
        if isinstance(error, WrongUsage):
            return WRONG_USAGE
        return UNUSABLE_INPUT if isinstance(error, (SweepError, IoError)) else JOB_FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


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
