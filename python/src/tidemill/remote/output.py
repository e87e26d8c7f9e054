"""Where the packets of a reception go."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Protocol

from .. import _core
from ..archive.work import files_of


class Output(Protocol):
    """What a binary file is, and whatever else takes bytes."""

    def write(self, content: bytes, /) -> object: ...


class output_file:
    """A file that keeps what it holds until the first packets come. Each write is whole, or throws OSError."""

    def __init__(self, path: str | os.PathLike[str], recording: str | os.PathLike[str]) -> None:
        """Throws WrongUsage where that is the recording, and JobFailed where it cannot be written."""
        if any(_are_same(path, each) for each in _files_of(Path(recording))):
            raise _core.WrongUsage(f"{os.fspath(path)} is where the recording comes from: choose another output")
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise _core.JobFailed(f"{os.fspath(path)} cannot be written: {error.strerror}") from None
        self._is_plain = stat.S_ISREG(os.fstat(self._file).st_mode)
        self._is_fresh = True
        self._size = 0

    def __enter__(self) -> output_file:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._file)

    def write(self, content: bytes, /) -> object:
        if content and self._is_fresh and self._is_plain:
            os.ftruncate(self._file, 0)
        self._is_fresh = self._is_fresh and not content
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            if self._is_plain:  # no half packet at its end
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(content)
        return len(content)


def _files_of(recording: Path) -> list[Path]:
    try:
        return files_of(recording)
    except OSError:
        return [recording]


def _are_same(one: str | os.PathLike[str], other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
