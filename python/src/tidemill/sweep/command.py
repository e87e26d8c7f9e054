"""`tidemill sweep`: the program tidemill-sweep, which `tidemill` finds."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .. import Error, IoError, WrongUsage
from . import Result, SweepError, engines, run, status
from .deal import Dealer
from .plan import read_plan
from .table import to_text

_LONG = ("bits", "bits_wrong", "ldpc_iterations_total")
_DONE, _JOB_FAILED, _WRONG_USAGE, _UNUSABLE_INPUT = 0, 1, 2, 3


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    given = _parser().parse_args(words)
    try:
        return _show_status(given) if given.status else _sweep(given)
    except Error as error:
        print(f"tidemill: {error}", file=sys.stderr)
        return status_of(error)
    except KeyboardInterrupt:
        return 130


def status_of(error: Error) -> int:
    """The exit status that tells what kind of error ended a program."""
    if isinstance(error, WrongUsage):
        return _WRONG_USAGE
    return _UNUSABLE_INPUT if isinstance(error, (SweepError, IoError)) else _JOB_FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tidemill sweep",
        description="Count what a file asks for, in ranges dealt to every core or machine; the counts are those of one.",
        epilog="Example: mpirun -np 64 tidemill sweep ber.toml --resume",
        allow_abbrev=False,
    )
    parser.add_argument("file", nargs="?", help="sweep file (TOML; docs/many-machines.md)")
    parser.add_argument("--state", metavar="DIR", help="folder of the counts so far (default: FILE with .sweep)")
    parser.add_argument("--resume", action="store_true", help="go on from the state, if there is one")
    parser.add_argument("--status", metavar="DIR", help="show what a sweep has done and is doing, and count nothing")
    parser.add_argument(
        "--engine", choices=engines.ENGINES, help="who counts (default: mpi or ray where their variables are set)"
    )
    parser.add_argument("--workers", type=whole, metavar="N", help="how many (default: all there are)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def number_or_auto(text: str) -> float | str:
    """Of an option that a search may answer."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number, or auto") from None


def whole(text: str) -> int:
    """Of an option that counts workers."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 4096:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1 to 4096")


def _sweep(given: argparse.Namespace) -> int:
    if given.file is None:
        raise WrongUsage("give a sweep file, or --status DIR (see tidemill sweep --help)")
    plan = read_plan(given.file)
    folder = given.state or Path(given.file).with_suffix(".sweep")
    line = _Line(f"sweep {given.file}: {len(plan.points)} points of {plan.count}")
    result = run(
        given.file, state=folder, resume=given.resume, engine=given.engine, workers=given.workers, tell=line.show
    )
    if result is None:
        return _DONE
    line.end()
    _print(result.to_json() if given.json else None, _text_of(result))
    if not result.is_done:
        print(f"stopped early: --resume goes on from {folder}", file=sys.stderr)
    return _DONE if result.is_done else _JOB_FAILED


def _text_of(result: Result) -> str:
    return to_text(result.rows, leave_out=_LONG) + "".join(f"{note}\n" for note in result.notes)


def _print(as_json: Any, text: str) -> None:
    sys.stdout.write(json.dumps(as_json, indent=2) + "\n" if as_json is not None else text)
    sys.stdout.flush()


def _show_status(given: argparse.Namespace) -> int:
    found = status(given.status)
    text = to_text(found["rows"], leave_out=_LONG)
    running = len(found["running"])
    text += f"{found['engine']}: {running} ranges out, {found['lost']} lost, {found['again']} dealt again\n"
    for name, host in found["hosts"].items():
        rate = host["numbers"] / host["seconds"] if host["seconds"] > 0 else 0
        text += f"{name}: {host['ranges']} ranges, {host['numbers']} numbers, {rate:.1f} a second and worker\n"
    _print(found if given.json else None, text)
    return _DONE


class _Line:
    """Progress on standard error: first what is done by whom, then one line, drawn anew on a terminal."""

    def __init__(self, head: str) -> None:
        self._head = head
        self._drawn = False

    def show(self, dealer: Dealer) -> None:
        if self._head:
            print(f"{self._head}; {dealer.engine.text}, {dealer.target}", file=sys.stderr)
            self._head = ""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{_progress(dealer)}", end="", file=sys.stderr, flush=True)
            self._drawn = True

    def end(self) -> None:
        if self._drawn:
            print(file=sys.stderr)


def _progress(dealer: Dealer) -> str:
    done = sum(tally.is_done for tally in dealer.tallies)
    numbers = sum(tally.next for tally in dealer.tallies)
    seconds = sum(host.seconds for host in dealer.hosts.values())
    counted = sum(host.numbers for host in dealer.hosts.values())
    rate = counted / seconds * dealer.engine.workers if seconds > 0 else 0
    lost = f", {dealer.lost} lost" if dealer.lost else ""
    return f"{done} of {len(dealer.tallies)} points done, {numbers} {dealer.plan.kind.numbers}, {rate:.0f} a second{lost}"


if __name__ == "__main__":
    sys.exit(main())
