"""`tidemill calibrate --engine`: the program tidemill-calibrate-engine, which `tidemill` finds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import JobFailed
from ..program import DONE, new_parser, run_program, write_out
from ..sweep import engines
from .calibrate import measure
from .cost import EngineCost
from .engine_words import ENGINE_WORDS, engine_of


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    return run_program(_parser(), _calibrate, words)


def _parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "calibrate",
        "Measure what an engine costs that decodes for tidemill remote-rx: per batch, and per byte.",
        "tidemill calibrate --engine processes:2 -o engine.json",
    )
    parser.add_argument("--engine", type=_engine, required=True, metavar="ENGINE", help="processes:N, ray, dask")
    parser.add_argument("-o", "--output", metavar="FILE", help="where the model goes")
    parser.add_argument("--json", action="store_true", help="the model on standard output")
    return parser


def _engine(text: str) -> tuple[str, int | None]:
    found = engine_of(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r}: give ENGINE or ENGINE:N with {ENGINE_WORDS}")
    return found


def _calibrate(given: argparse.Namespace) -> int:
    name, workers = given.engine
    with engines.opened(name, workers) as engine:
        assert engine is not None
        cost = measure(engine, name)
    if given.output:
        try:
            Path(given.output).write_text(cost.to_json(), encoding="utf-8")
        except OSError as error:
            raise JobFailed(f"{given.output} cannot be written: {error.strerror}") from None
    write_out(cost.to_json() if given.json else _table(cost))
    return DONE


def _table(cost: EngineCost) -> str:
    rows = {"the head's processor": cost.head, "a helper's processor": cost.helper}
    rows |= {"from batch to batch": cost.carry, "there and back": cost.latency}
    head = f"{cost.engine}:{cost.workers}\n{'':20}  {'us a batch':>10}  {'ns a byte':>10}\n"
    lines = (f"{name:20}  {line.batch_us:10.1f}  {1e3 * line.byte_us:10.3f}\n" for name, line in rows.items())
    return head + "".join(lines)


if __name__ == "__main__":
    sys.exit(main())
