"""`tidemill sweep`: the program tidemill-sweep, which `tidemill` finds."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from .. import WrongUsage
from ..program import DONE, JOB_FAILED, new_parser, run_program, tell, whole, write_out
from . import Result, engines, run, status
from .deal import Dealer
from .page import StatusPage, place_of
from .plan import read_plan
from .table import printable, to_text

_LONG = ("bits", "bits_wrong", "ldpc_iterations_total")


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    return run_program(_parser(), lambda given: _show_status(given) if given.status else _sweep(given), words)


def _parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "sweep",
        "Count what a file asks for, in ranges dealt to every core or machine; the counts are those of one.",
        "mpirun -np 64 tidemill sweep ber.toml --resume",
    )
    parser.add_argument("file", nargs="?", help="sweep file (TOML; docs/guides/many-machines.md)")
    parser.add_argument("--state", metavar="DIR", help="folder of the counts so far (default: FILE with .sweep)")
    parser.add_argument("--resume", action="store_true", help="go on from the state, if there is one")
    parser.add_argument("--status", metavar="DIR", help="show what a sweep has done and is doing, and count nothing")
    parser.add_argument("--page", metavar="[ADDRESS:]PORT", help="with --status: as a page for a browser, until Ctrl-C")
    parser.add_argument(
        "--engine", choices=engines.ENGINES, help="who counts (default: mpi or ray where their variables are set)"
    )
    parser.add_argument("--workers", type=whole, metavar="N", help="how many (default: all there are)")
    parser.add_argument("--target", metavar="NAME", help="instruction set of all workers (default: the best that all have)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _sweep(given: argparse.Namespace) -> int:
    if given.file is None or given.page is not None:
        raise WrongUsage("give a sweep file, or --status DIR, alone with --page PORT (see tidemill sweep --help)")
    plan = read_plan(given.file)
    if given.target is not None:
        plan = dataclasses.replace(plan, target=given.target)
    folder = given.state or Path(given.file).with_suffix(".sweep")
    line = _Line(f"sweep {given.file}: {len(plan.points)} points of {plan.count}")
    result = run(
        plan, state=folder, resume=given.resume, engine=given.engine, workers=given.workers, tell=line.show
    )
    if result is None:
        return DONE
    line.end()
    _print(result.to_json() if given.json else None, _text_of(result))
    if not result.is_done:
        tell(f"stopped early: --resume goes on from {folder}")
    return DONE if result.is_done else JOB_FAILED


def _text_of(result: Result) -> str:
    return to_text(result.rows, leave_out=_LONG) + "".join(f"{note}\n" for note in result.notes)


def _print(as_json: Any, text: str) -> None:
    write_out(json.dumps(as_json, indent=2) + "\n" if as_json is not None else text)


def _show_status(given: argparse.Namespace) -> int:
    if given.page is not None:
        return _show_page(given.status, *place_of(given.page))
    found = status(given.status)
    text = to_text(found["rows"], leave_out=_LONG)
    text += printable(
        f"{found['points_done']} of {len(found['rows'])} points done; {found['engine']}: {found['ranges_done']} ranges done, "
        f"{len(found['running'])} out, {found['lost']} lost, {found['again']} dealt again"
    )
    text += "\n"
    for name, host in found["hosts"].items():
        rate = host["numbers"] / host["seconds"] if host["seconds"] > 0 else 0
        text += f"{printable(name)}: {host['ranges']} ranges, {host['numbers']} numbers, {rate:.1f} a second and worker\n"
    _print(found if given.json else None, text)
    return DONE


def _show_page(folder: str, address: str, port: int) -> int:
    status(folder)  # throws where there is nothing to be shown
    page = StatusPage(lambda: status(folder), address, port)
    tell(f"{folder} is shown at {page.url} until Ctrl-C")
    page.serve()
    return DONE


class _Line:
    """Progress on standard error: first what is done by whom, then one line, drawn anew on a terminal."""

    def __init__(self, head: str) -> None:
        self._head = head
        self._drawn = False

    def show(self, dealer: Dealer) -> None:
        if self._head:
            tell(f"{self._head}; {dealer.engine.text}, {dealer.target}")
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
