"""What a worker of an archive does: looks at a recording, or receives a segment of it."""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core, dvbs2
from ..sweep.work import build_here
from .index import hash_of
from .segments import Frames, Segment, Setting, frames_of, is_unbroken

_MOST_METADATA_BYTES = 1 << 26

Wishes = dict[str, Any]
"""What may be said of recordings: the names are those of dvbs2.receive()."""


@dataclass(frozen=True)
class Look:
    """What a recording is, before it is received."""

    sha256: str
    setting: Setting | None
    refused: str = ""
    stamp: str = ""
    """Changes when somebody writes to the recording's files."""


@dataclass(frozen=True)
class Heard:
    """What a segment gave; `refused`: why nothing."""

    frames: Frames | None
    unbroken: bool
    programmes: list[int]
    esn0_db: float | None
    refused: str = ""


def files_of(recording: Path) -> list[Path]:
    """The recording's own, data last. Throws OSError."""
    if recording.suffix != ".sigmf-meta":
        return [recording]
    data = recording.with_suffix(".sigmf-data")
    try:
        told = json.loads(_beginning_of(recording))["global"]["core:dataset"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [recording, data]  # what is wrong with the metadata, the reception says
    return [recording, recording.with_name(told) if _is_name(told) else data]


def _beginning_of(path: Path) -> bytes:
    if not path.is_file():
        raise OSError(errno.EINVAL, "it is no file", str(path))
    with open(path, "rb") as file:
        return file.read(_MOST_METADATA_BYTES)


# Whether it names a file beside the metadata.
def _is_name(told: object) -> bool:
    return isinstance(told, str) and told not in ("", ".", "..") and not set(told) & {"/", "\0"}


def stamp_of(recording: Path) -> str:
    """Throws OSError, also for what is no file: a pipe would have no end."""
    paths = files_of(recording)
    stats = [os.stat(path) for path in paths]
    for path, s in zip(paths, stats, strict=True):
        if not stat.S_ISREG(s.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
    return " ".join(f"{s.st_dev}:{s.st_ino}:{s.st_size}:{s.st_mtime_ns}" for s in stats)


def _options(recording: Path, wishes: Wishes, setting: Setting | None = None) -> _core.ReceptionOptions:
    given = {"format": None, "sample_rate_hz": None, "symbol_rate_hz": None, "offset_hz": None}
    found: dict[str, Any] = {}
    if setting is not None:
        found = {"rolloff": setting.rolloff, "gold_code": setting.gold_code, "offset_hz": setting.offset_hz}
        is_plain = wishes.get("symbol_rate_hz") is None and setting.offset_hz is None
        found["symbol_rate_hz"] = None if is_plain else setting.symbol_rate_hz
    return dvbs2._reception(recording, **{**given, "rolloff": 0.20, "gold_code": 0, **wishes, **found})


def hashed(recording: Path) -> Look:
    """Content and stamp alone."""
    try:
        stamp = stamp_of(recording)
        return Look(hash_of(*files_of(recording)), None, stamp=stamp)
    except OSError as error:
        return Look("", None, f"{Path(error.filename).name}: {error.strerror}")


def examined(recording: Path, wishes: Wishes) -> Setting | str:
    """What one search finds, or why a recording cannot be received."""
    try:
        known = _core.examine(_options(recording, wishes))
    except _core.Error as error:
        return str(error)
    symbol_rate_hz = known["symbol_rate_hz"] or known["sample_rate_hz"] / 2
    names = ("rolloff", "gold_code", "offset_hz")
    return Setting(known["samples"], known["sample_rate_hz"], symbol_rate_hz, **{name: known[name] for name in names})


def received(recording: Path, wishes: Wishes, setting: Setting, segment: Segment, build: str) -> Heard:
    """What is wrong with the recording is an answer; what is wrong with the worker is thrown."""
    if build_here() != build:
        raise _core.JobFailed(f"a worker has build {build_here()}, this archive {build}: install the same on all")
    try:
        options = _options(recording, wishes, setting)
        report, arrays = _core.receive_part(options, first=segment.first, count=segment.count)
    except _core.Error as error:
        return Heard(None, False, [], None, str(error))
    frames = frames_of(setting, segment.first, report["clock_offset_ppm"] or 0, arrays)
    return Heard(frames, is_unbroken(report), list(report["programmes"]), report["esn0_db"])
