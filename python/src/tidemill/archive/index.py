"""The index of an archive: what is in each recording, kept while the archive grows."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from .. import _core
from ..sweep.settings import SweepError, read_json
from ..sweep.state import write_whole

_FORMAT = 1
_MOST_BYTES = 1 << 28


class Index:
    """A file that is never half written. Entries by the recordings' names below their folder."""

    def __init__(self, path: Path) -> None:
        """Reads it, where it is there. Throws SweepError for what is none, or another version's."""
        self.path = path
        self.entries: dict[str, dict[str, Any]] = {}
        if os.path.lexists(path):
            self._read(read_json(path, _MOST_BYTES, "name another --index"))

    def _read(self, body: Any) -> None:
        entries = body.get("recordings") if isinstance(body, dict) else None
        if not isinstance(body, dict) or not isinstance(entries, dict) or body.get("archive_index") != _FORMAT:
            raise SweepError(f"{self.path}: this is no index of an archive: name another --index, or move it away")
        if not all(isinstance(entry, dict) for entry in entries.values()):
            raise SweepError(f"{self.path}: it is damaged: move it away, and all recordings are received again")
        if body.get("version") != _core.version:
            raise SweepError(
                f"{self.path}: it is of version {body.get('version')}, this is {_core.version}, which may receive "
                "otherwise: name another --index"
            )
        self.entries = entries

    def save(self) -> None:
        """Throws JobFailed where there is no room."""
        body = {"archive_index": _FORMAT, "version": _core.version, "recordings": dict(sorted(self.entries.items()))}
        try:
            write_whole(self.path, (json.dumps(body, indent=1) + "\n").encode())
        except OSError as error:
            raise _core.JobFailed(f"{self.path} cannot be written: {error.strerror}") from None


def hash_of(*paths: Path) -> str:
    """Of the files' content, one behind the other. Throws OSError."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
