"""What a sweep has counted so far, in a folder that one process writes at a time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any

from .. import _core
from .settings import SweepError, read_json

_FORMAT = 1
_MOST_BYTES = 1 << 28


def write_whole(path: Path, content: bytes) -> None:
    """All of a file or nothing. Throws OSError."""
    new = path.with_name(path.name + ".new")
    path.parent.mkdir(parents=True, exist_ok=True)
    new.unlink(missing_ok=True)  # what a killed one left, or a link to somewhere else
    try:
        with open(new, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)  # where there is no room, it would take what is left
        raise


class Lock:
    """A folder that one process writes at a time: made where it is not there."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Throws SweepError where another process has it, or where nothing can be written."""
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._lock = os.open(self.folder / ".tidemill-lock", flags, 0o644)
        except OSError as error:
            raise SweepError(f"{self.folder}: nothing can be kept here: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(self._lock)
            raise SweepError(f"{self.folder}: {holder} works here: wait, or name another folder") from None
        try:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        except OSError as error:
            os.close(self._lock)
            raise SweepError(f"{self.folder}: nothing can be kept here: {error.strerror}") from None

    def close(self) -> None:
        os.close(self._lock)


class State(Lock):
    """A folder's file `state.json`, which is never half written."""

    def exists(self) -> bool:
        return (self.folder / "state.json").exists()

    def save(self, body: dict[str, Any]) -> None:
        """Throws JobFailed where there is no room for it; what was there stays."""
        text = json.dumps({**body, "sha256": _sum_of(body)}, indent=1)
        try:
            write_whole(self.folder / "state.json", (text + "\n").encode())
        except OSError as error:
            raise _core.JobFailed(f"{self.folder}/state.json cannot be written: {error.strerror}") from None


def new_body(plan: dict[str, Any]) -> dict[str, Any]:
    """Of a sweep that begins."""
    return {"sweep_state": _FORMAT, "version": _core.version, "plan": plan}


def read_state(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What was saved last. Throws SweepError for what is damaged or of another version."""
    path = Path(folder) / "state.json"
    body = read_json(path, _MOST_BYTES, "there is no sweep's state")
    if not isinstance(body, dict) or body.pop("sha256", None) != _sum_of(body):
        raise SweepError(f"{path}: it is damaged, or no sweep's state: move it away, and count anew")
    if (body.get("sweep_state"), body.get("version")) != (_FORMAT, _core.version):
        raise SweepError(
            f"{path}: it is of version {body.get('version')}, this is {_core.version}, which may count otherwise: "
            "go on with that one, or move it away"
        )
    if not _is_whole(body):
        raise SweepError(f"{path}: it is damaged: move it away, and count anew")
    return body


# A text with the right checksum was written on purpose; it is not to end in an exception all the same.
def _is_whole(body: dict[str, Any]) -> bool:
    kinds: dict[str, type] = {"plan": dict, "points": list, "hosts": dict, "running": list}
    kinds |= {"target": str, "build": str, "engine": str, "lost": int, "again": int}
    if any(type(body.get(name)) is not kind for name, kind in kinds.items()):
        return False
    points = all(isinstance(each, dict) and _is_point(each) for each in body["points"])
    numbers = ("ranges", "numbers", "seconds", "cpu_seconds")
    hosts = all(
        isinstance(each, dict) and set(each) == set(numbers) and all(type(each[name]) in (int, float) for name in numbers)
        for each in body["hosts"].values()
    )
    return points and hosts


def _is_point(point: dict[str, Any]) -> bool:
    said, ahead = point.get("said"), point.get("ahead")
    return _are_counts(point.get("counts")) and isinstance(said, dict) and isinstance(ahead, list) and all(map(_is_ahead, ahead))


def _is_ahead(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != 4:
        return False
    first, length, limit, counts = row
    numbers = type(first) is int and type(length) is int and first >= 0 and length > 0
    return numbers and (limit is None or type(limit) is int) and _are_counts(counts)


def _are_counts(counts: Any) -> bool:
    return isinstance(counts, dict) and all(type(value) is int for value in counts.values())


def check_same_sweep(body: dict[str, Any], plan: dict[str, Any], folder: Path) -> None:
    """Throws SweepError, naming the first setting that differs."""
    there = body["plan"]
    for name, value in plan.items():
        if there.get(name) == value:
            continue
        shown = [json.dumps(each)[:60] for each in (there.get(name), value)]
        raise SweepError(
            f"{folder}: it is the state of another sweep: its {name} = {shown[0]}, now {shown[1]}: name another --state"
        )


def _sum_of(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
