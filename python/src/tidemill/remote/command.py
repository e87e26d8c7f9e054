"""`tidemill remote-rx`: the program tidemill-remote-rx, which `tidemill` finds."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from .. import WrongUsage
from ..program import DONE, add_signal_options, new_parser, positive, run_program, tell, write_out
from . import BATCH_BYTES, MOST_BATCH_BYTES, RemoteReport, receive
from .cost import read_cost
from .engine_words import ENGINE_WORDS, engine_of


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    return run_program(_parser(), _receive, words)


def _parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "remote-rx",
        "Receive a recording, with frames decoded by other processes, or on the hosts of a cluster.",
        "tidemill remote-rx pass.sigmf-meta --stage decode=processes:4 -o video.ts",
    )
    parser.add_argument("recording", help="as tidemill dvbs2 rx takes it")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the transport stream")
    parser.add_argument(
        "--stage", type=_stage, required=True, metavar="decode=ENGINE", help="processes:N, ray, dask; N helpers, or all"
    )
    decides = parser.add_mutually_exclusive_group()
    decides.add_argument("--model", metavar="FILE", help="the engine's costs, by calibrate --engine (default: measured first)")
    decides.add_argument("--always", action="store_true", help="decode there, whether that is faster or not")
    parser.add_argument("--latency", type=positive, metavar="SECONDS", help="in which a batch has to be back, by the forecast")
    parser.add_argument("--batch-bytes", type=_batch_bytes, metavar="N", help=f"with --always: sent at a time (default: {BATCH_BYTES})")
    parser.add_argument("--patience", type=positive, default=30, metavar="SECONDS", help="with a helper (default: 30)")
    parser.add_argument("--sample-rate", type=float, metavar="HZ", help="where the recording does not tell")
    add_signal_options(parser, "else half the sample rate; or auto")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _stage(text: str) -> tuple[str, int | None]:
    stage, _, engine = text.partition("=")
    found = engine_of(engine)
    if stage == "decode" and found is not None:
        return found
    raise argparse.ArgumentTypeError(f"{text!r}: give decode=ENGINE or decode=ENGINE:N with {ENGINE_WORDS}")


def _batch_bytes(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST_BATCH_BYTES:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1 to {MOST_BATCH_BYTES}")


def _check(given: argparse.Namespace) -> None:
    if given.output == "-":
        raise WrongUsage("-o -: give a file; what can be told of it comes on standard output")
    if given.batch_bytes is not None and not given.always:
        raise WrongUsage("--batch-bytes is for --always: else the engine's costs tell how large the best ones are")
    if given.latency is not None and given.always:
        raise WrongUsage("--latency is not for --always: how late batches are follows from the engine's costs")


def _receive(given: argparse.Namespace) -> int:
    _check(given)
    engine, workers = given.stage
    report = receive(
        given.recording,
        given.output,
        engine=engine,
        workers=workers,
        batch_bytes=given.batch_bytes,
        cost=None if given.always else read_cost(given.model) if given.model else "measure",
        latency_us=None if given.latency is None else 1e6 * given.latency,
        patience_s=given.patience,
        tell=tell,
        sample_rate_hz=given.sample_rate,
        symbol_rate_hz=given.symbol_rate,
        rolloff=given.rolloff,
        gold_code=given.gold,
    )
    if given.json:
        write_out(json.dumps(dataclasses.asdict(report), indent=2) + "\n")
    else:
        write_out(f"{report.ts_packets} packets, {report.frames} frames, {report.frames_bad} bad; decoded by {_who(report)}\n")
    return DONE


def _who(report: RemoteReport) -> str:
    if report.frames_here == report.frames:
        return "this process"
    return report.engine + (f", {report.frames_here} frames by this process" if report.frames_here else "")


if __name__ == "__main__":
    sys.exit(main())
