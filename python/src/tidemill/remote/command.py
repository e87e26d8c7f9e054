"""`tidemill remote-rx`: the program tidemill-remote-rx, which `tidemill` finds."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from .. import Error
from ..sweep.command import number_or_auto, status_of
from . import BATCH_BYTES, receive

_ENGINES = ("processes", "ray", "dask")


def main(words: list[str] | None = None) -> int:
    """Returns the exit status, which means what those of `tidemill` mean."""
    given = _parser().parse_args(words)
    try:
        return _receive(given)
    except Error as error:
        print(f"tidemill: {error}", file=sys.stderr)
        return status_of(error)
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tidemill remote-rx",
        description="Receive a recording, with frames decoded by other processes, or on the hosts of a cluster.",
        epilog="Example: tidemill remote-rx pass.sigmf-meta --stage decode=processes:4 -o video.ts",
        allow_abbrev=False,
    )
    parser.add_argument("recording", help="as tidemill dvbs2 rx takes it")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the transport stream")
    parser.add_argument(
        "--stage", type=_stage, required=True, metavar="decode=ENGINE", help="processes:N, ray, dask; N helpers, or all"
    )
    parser.add_argument("--batch-bytes", type=int, default=BATCH_BYTES, metavar="N", help=f"sent at a time (default: {BATCH_BYTES})")
    parser.add_argument("--patience", type=float, default=30, metavar="SECONDS", help="with a helper (default: 30)")
    parser.add_argument("--sample-rate", type=float, metavar="HZ", help="where the recording does not tell")
    parser.add_argument("--symbol-rate", type=number_or_auto, metavar="HZ", help="else half the sample rate; or auto")
    parser.add_argument("--rolloff", type=number_or_auto, default=0.20, metavar="NUMBER", help="or auto (default: 0.2)")
    parser.add_argument("--gold", type=number_or_auto, default=0, metavar="N", help="gold code, or auto (default: 0)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _stage(text: str) -> tuple[str, int | None]:
    stage, _, engine = text.partition("=")
    name, colon, count = engine.partition(":")
    fits = not colon or (count.isascii() and count.isdigit() and 1 <= int(count) <= 4096)
    if stage == "decode" and name in _ENGINES and fits:
        return name, int(count) if colon else None
    raise argparse.ArgumentTypeError(
        f"{text!r}: give decode=ENGINE or decode=ENGINE:N with one of {', '.join(_ENGINES)} and 1 to 4096 helpers"
    )


def _receive(given: argparse.Namespace) -> int:
    engine, workers = given.stage
    report = receive(
        given.recording,
        given.output,
        engine=engine,
        workers=workers,
        batch_bytes=given.batch_bytes,
        patience_s=given.patience,
        tell=lambda line: print(f"warning: {line}", file=sys.stderr),
        sample_rate_hz=given.sample_rate,
        symbol_rate_hz=given.symbol_rate,
        rolloff=given.rolloff,
        gold_code=given.gold if given.gold == "auto" else int(given.gold),
    )
    if given.json:
        print(json.dumps(dataclasses.asdict(report), indent=2))
    else:
        print(f"{report.ts_packets} packets, {report.frames} frames, {report.frames_bad} bad; decoded by {report.engine}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
