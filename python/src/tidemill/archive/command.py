"""`tidemill archive`: the program tidemill-archive, which `tidemill` finds."""

from __future__ import annotations

import argparse
import json
import sys

from ..program import DONE, JOB_FAILED, add_signal_options, new_parser, run_program, tell, whole, write_out
from ..sweep import engines
from . import run


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    return run_program(_parser(), _archive, words)


def _parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "archive",
        "Receive a folder of recordings, each once, long ones in segments, on every core or machine.",
        "tidemill archive recordings/ -o ts/ --index index.json",
    )
    parser.add_argument("folder", help="the recordings, in folders below it, too")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="where transport streams go: NAME.ts")
    parser.add_argument("--index", metavar="FILE", help="what is in them (default: index.json in --output)")
    parser.add_argument("--segment", type=float, default=60.0, metavar="SECONDS", help="that a worker gets (default: 60)")
    parser.add_argument("--engine", choices=engines.ENGINES, help="who receives (default: as tidemill sweep)")
    parser.add_argument("--workers", type=whole, metavar="N", help="how many (default: all there are)")
    parser.add_argument("--sample-rate", type=float, metavar="HZ", help="where recordings do not tell")
    add_signal_options(parser, "of all of them (default: half of each one's sample rate); auto: searched")
    parser.add_argument("--json", action="store_true", help="the index on standard output")
    return parser


def _archive(given: argparse.Namespace) -> int:
    wishes = {"rolloff": given.rolloff, "gold_code": given.gold}
    for name in ("sample_rate", "symbol_rate"):
        if getattr(given, name) is not None:
            wishes[f"{name}_hz"] = getattr(given, name)
    archive = run(
        given.folder,
        given.output,
        index=given.index,
        segment_s=given.segment,
        engine=given.engine,
        workers=given.workers,
        tell=tell,
        **wishes,
    )
    if archive is None:
        return DONE
    if given.json:
        write_out(json.dumps({"recordings": archive.entries, "failed": archive.failed}, indent=2) + "\n")
    done, failed = len(archive.received), len(archive.failed)
    tell(f"{done} received, {failed} failed, {len(archive.entries)} in the index")
    return JOB_FAILED if archive.failed else DONE


if __name__ == "__main__":
    sys.exit(main())
