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


class Lock:
    """A folder that one process writes at a time: made where it is not there."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Throws SweepError where another process has it, or where nothing can be written."""
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise SweepError(f"{self.folder}: nothing can be kept here: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(self._lock)
            raise SweepError(f"{self.folder}: {holder} works here: wait, or name another folder") from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def close(self) -> None:
        os.close(self._lock)


class State(Lock):
    """A folder's file `state.json`, which is never half written."""

    def exists(self) -> bool:
        return (self.folder / "state.json").exists()

    def save(self, body: dict[str, Any]) -> None:
        """Throws JobFailed where there is no room for it; what was there stays."""
        text = json.dumps({**body, "sha256": _sum_of(body)}, indent=1)
        new = self.folder / "state.json.new"
        try:
            with open(new, "w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.folder / "state.json")
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
    return body


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
