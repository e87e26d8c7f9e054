"""A folder of recordings: each received once, long ones in segments, all of it in an index.

`run()` is what `tidemill archive` does; docs/guides/many-machines.md of the source teaches both.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _core
from ..sweep import engines
from ..sweep.engines import Engine
from ..sweep.settings import SweepError
from ..sweep.state import Lock, write_whole
from ..sweep.work import build_here
from .calls import Call, Calls
from .index import Index, hash_of
from .segments import Joined, Segment, Setting, cut, join
from .work import Heard, Look, Wishes, examined, hashed, received, stamp_of

__all__ = ["Archive", "SweepError", "run"]

_SUFFIXES = {".sigmf-meta", ".sigmf", ".wav", ".sdriq", ".cf32", ".cf64", ".ci16", ".ci8", ".cu8"}
_SAVE_EVERY_S = 1.0
_SEGMENT_S = 60.0
_OF_ONE_NAME = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP)
"""Errors that say nothing of the other streams."""


@dataclass
class Archive:
    """What has been done: `entries` is the index."""

    entries: dict[str, dict[str, Any]]
    received: list[str] = field(default_factory=list)
    """Of this run."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why recordings could not be received, by their names."""
    lost: int = 0


Tell = Callable[[str], None]


def run(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    index: str | os.PathLike[str] | None = None,
    segment_s: float = _SEGMENT_S,
    executor: Executor | None = None,
    engine: str | None = None,
    workers: int | None = None,
    tell: Tell | None = None,
    **wishes: Any,
) -> Archive | None:
    """Receives all recordings below `folder` that the index does not hold yet; output/NAME.ts for each.

    index: else output/index.json. segment_s: how many seconds of a recording a worker gets at a time, about.
    executor, engine, workers: as tidemill.sweep.run() takes them. tell: is called with a line for each recording.
    wishes: format, sample_rate_hz, symbol_rate_hz, offset_hz, rolloff, gold_code, as dvbs2.receive() takes them.

    Returns None on ranks of MPI that were workers. Throws SweepError for a folder or an index that cannot be used,
    JobFailed where the engine cannot work or nothing can be written. What is wrong with a recording is in Archive.failed.
    """
    known = {"format", "sample_rate_hz", "symbol_rate_hz", "offset_hz", "rolloff", "gold_code"}
    if set(wishes) - known:
        raise _core.WrongUsage(f"there is no {sorted(set(wishes) - known)[0]}: there are {', '.join(sorted(known))}")
    if not 0.1 <= segment_s <= 1e6:
        raise _core.WrongUsage(f"segment_s={segment_s}: give 0.1 to 1000000 seconds")
    wishes = {"rolloff": 0.20, "gold_code": 0, **{name: value for name, value in wishes.items() if value is not None}}
    # Workers may have another current folder, and a name like driver=x.cf32 is no radio.
    source = Path(os.path.abspath(folder))
    recordings, unreadable = _recordings_in(source)
    to = Path(output)
    place = Path(index) if index is not None else to / "index.json"

    def work(on: Engine) -> Archive:
        lock = Lock(to)
        try:
            return _Run(source, to, Index(place), on, segment_s, wishes, tell).all(recordings, unreadable)
        finally:
            lock.close()

    if executor is not None:
        return work(engines.handed_in(executor, workers))
    with engines.opened(engine, workers) as opened:
        return None if opened is None else work(opened)


# And why folders below could not be looked into. What has a recording's name and is no file is reported
# later.
def _recordings_in(folder: Path) -> tuple[list[Path], dict[str, str]]:
    if not os.path.isdir(folder):
        raise SweepError(f"{folder}: it is no folder: name the one with the recordings")
    unreadable: dict[str, str] = {}

    def note(error: OSError) -> None:
        unreadable[os.path.relpath(error.filename, folder)] = error.strerror or "it cannot be read"

    found = [Path(at, name) for at, _, names in os.walk(folder, onerror=note) for name in names]
    return sorted(path.relative_to(folder) for path in found if path.suffix in _SUFFIXES), unreadable


@dataclass
class _Run:
    folder: Path
    output: Path
    index: Index
    engine: Engine
    segment_s: float
    wishes: Wishes
    tell: Tell | None
    _saved_at: float = 0

    def all(self, recordings: list[Path], unreadable: dict[str, str]) -> Archive:
        self._archive = Archive(self.index.entries)
        self._calls = Calls(self.engine)
        try:
            self._all(recordings, unreadable)
        except KeyboardInterrupt:
            self.index.save()
            raise
        self.index.save()
        self._archive.lost = self._calls.lost
        return self._archive

    def _all(self, recordings: list[Path], unreadable: dict[str, str]) -> None:
        for name, why in unreadable.items():
            self._fail(name, why)
        self._forget_other_wishes()
        looks = self._calls.all([(hashed, (self.folder / name,)) for name in recordings])
        new, twins = self._new(dict(zip(map(str, recordings), looks, strict=True)))
        settings = self._calls.all([(examined, (self.folder / name, self.wishes)) for name in new])
        jobs: dict[str, tuple[Look, Setting]] = {}
        for (name, look), setting in zip(new.items(), settings, strict=True):
            if isinstance(setting, str):
                self._fail(name, setting)
            else:
                jobs[name] = (look, setting)
        self._receive(jobs)
        for name, (sha256, first) in twins.items():
            if first in self.index.entries:
                self.index.entries[name] = {"sha256": sha256, "same_as": first, "wishes": self.wishes}
            else:
                self._fail(name, f"its content is that of {first}, which could not be received")

    # A reception with other settings is another stream.
    def _forget_other_wishes(self) -> None:
        entries = self.index.entries
        for name in [name for name, entry in entries.items() if entry.get("wishes") != self.wishes]:
            del entries[name]

    # Those whose content no stream is of, each content once; and those that have the content of another one.
    def _new(self, looks: dict[str, Look]) -> tuple[dict[str, Look], dict[str, tuple[str, str]]]:
        new: dict[str, Look] = {}
        twins: dict[str, tuple[str, str]] = {}
        there = [name for name, look in looks.items() if not look.refused and self._is_there(name, look)]
        first = {looks[name].sha256: name for name in reversed(there)}
        for name, look in looks.items():
            if look.refused:
                self._fail(name, look.refused)
            elif name not in there and first.setdefault(look.sha256, name) != name:
                twins[name] = look.sha256, first[look.sha256]
            elif name not in there:
                new[name] = look
        return new, twins

    def _is_there(self, name: str, look: Look) -> bool:
        entry, place = self.index.entries.get(name, {}), _place_of(name)
        if "same_as" in entry or entry.get("sha256") != look.sha256 or entry.get("output") != str(place):
            return False
        try:
            return hash_of(self.output / place) == entry.get("output_sha256")
        except OSError:
            return False

    # The longest recordings first, so that the last ones to be done are short.
    def _receive(self, jobs: dict[str, tuple[Look, Setting]]) -> None:
        order = sorted(jobs, key=lambda name: (-jobs[name][1].samples, name))
        calls, owners = [], []
        for name in order:
            for segment in cut(jobs[name][1], self.segment_s):
                calls.append(self._call(name, jobs[name][1], segment))
                owners.append((name, segment))
        heard: dict[str, list[tuple[Segment, Heard]]] = {name: [] for name in order}

        def take(k: int, answer: Heard) -> None:
            name, segment = owners[k]
            heard[name].append((segment, answer))
            if len(heard[name]) == sum(owner == name for owner, _ in owners):
                self._finish(name, *jobs[name], sorted(heard.pop(name), key=lambda each: each[0].begin))

        self._calls.all(calls, take)

    def _call(self, name: str, setting: Setting, segment: Segment) -> Call:
        return received, (self.folder / name, self.wishes, setting, segment, build_here())

    def _finish(self, name: str, look: Look, setting: Setting, heard: list[tuple[Segment, Heard]]) -> None:
        why = _why_in_one_piece(heard)
        if why:
            whole = Segment(0, setting.samples, 0, setting.samples)
            heard = [(whole, self._calls.all([self._call(name, setting, whole)])[0])]
        refused = [each.refused for _, each in heard if each.refused]
        if refused:
            return self._fail(name, refused[0])
        joined = _joined(heard)
        if look.stamp != _stamp_or_nothing(self.folder / name):
            return self._fail(name, "it has changed while it was read: run the archive again")
        if not joined.packets:
            return self._fail(name, f"no packets: {joined.frames} frames found, {joined.frames_bad} of them bad")
        self._keep(name, look, joined, heard, why)

    def _keep(self, name: str, look: Look, joined: Joined, heard: list[tuple[Segment, Heard]], why: str) -> None:
        place = _place_of(name)
        try:
            write_whole(self.output / place, joined.packets)
        except OSError as error:
            if error.errno not in _OF_ONE_NAME:
                raise _core.JobFailed(f"{self.output / place} cannot be written: {error.strerror}") from None
            return self._fail(name, f"{self.output / place} cannot be written: {error.strerror}")
        entry: dict[str, Any] = {
            "sha256": look.sha256,
            "wishes": self.wishes,
            "output": str(place),
            "output_sha256": hash_of(self.output / place),
            "packets": len(joined.packets) // 188,
            "programmes": sorted({number for _, each in heard for number in each.programmes}),
            "frames": joined.frames,
            "frames_bad": joined.frames_bad,
            "gaps": joined.gaps,
            "modcods": {_name_of(code): count for code, count in sorted(joined.frames_of_pls.items())},
            "segments": len(heard),
            "frames_decided_otherwise": joined.decided_otherwise,
        }
        self.index.entries[name] = entry | ({"in_one_piece": why} if why else {})
        self._archive.received.append(name)
        self._say(f"{name}: {entry['packets']} packets, {joined.frames} frames, {joined.frames_bad} bad")
        if time.monotonic() - self._saved_at > _SAVE_EVERY_S:
            self.index.save()
            self._saved_at = time.monotonic()

    def _fail(self, name: str, why: str) -> None:
        self.index.entries.pop(name, None)
        self._archive.failed[name] = why
        self._say(f"{name}: {why}")

    def _say(self, line: str) -> None:
        if self.tell:
            self.tell(line)


def _place_of(name: str) -> Path:
    return Path(name).with_name(Path(name).name + ".ts")


def _joined(heard: list[tuple[Segment, Heard]]) -> Joined:
    return join([(segment, each.frames) for segment, each in heard if each.frames is not None])


# Why segments do not add up to what one run hears; empty: they do.
def _why_in_one_piece(heard: list[tuple[Segment, Heard]]) -> str:
    if len(heard) == 1 or any(each.refused for _, each in heard):
        return ""
    if not all(each.unbroken for _, each in heard):
        return "the signal is not there all the time"
    return "a lock took longer than segments overlap" if _joined(heard).open_seams else ""


def _stamp_or_nothing(recording: Path) -> str:
    try:
        return stamp_of(recording)
    except OSError:
        return ""


# EN 302 307-1, 5.5.2.2 and 5.5.2.3: the PLS code is the MODCOD, then a bit for short frames and one for pilots.
def _name_of(pls_code: int) -> str:
    modcod = _core.modcods()[(pls_code >> 2) - 1]
    return f"{modcod} {'short' if pls_code & 2 else 'normal'}{', pilots' if pls_code & 1 else ''}"
