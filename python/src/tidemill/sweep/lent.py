"""Large arrays on their way to a process of this machine: in memory that both see, instead of through a pipe.

A pipe holds 64 KiB: what is larger goes through it in pieces, and each piece waits until the other side has been woken.
"""

from __future__ import annotations

import functools
import mmap
import os
import pickle
import threading
from dataclasses import dataclass
from typing import Any

_LEAST_BYTES = 1 << 14
"""Smaller arrays go with the rest of a call."""
_ALIGNMENT = 64


class Place:
    """Memory of this process that others open by `path`. It goes when the last of them closes it, or ends."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._memory = os.memfd_create("tidemill-lent", os.MFD_CLOEXEC)
        os.ftruncate(self._memory, size)
        self.path = f"/proc/{os.getpid()}/fd/{self._memory}"
        self.mapped = mmap.mmap(self._memory, size)

    def close(self) -> None:
        self.mapped.close()
        os.close(self._memory)


@dataclass(frozen=True)
class Packed:
    """A call whose large arrays lie in a place; `spans`: where."""

    call: bytes
    path: str
    size: int
    spans: list[tuple[int, int]]


class Lender:
    """Places for calls, used again when a call is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Place] = []
        self._closed = False

    def pack(self, *call: Any) -> tuple[Packed, Place | None]:
        """Throws what pickling throws. The place is to be given back when nobody reads the call any more."""
        buffers: list[pickle.PickleBuffer] = []
        text = pickle.dumps(call, protocol=5, buffer_callback=lambda buffer: _keep_small(buffer, buffers))
        views = [buffer.raw() for buffer in buffers]
        if not views:
            return Packed(text, "", 0, []), None
        spans, size = [], 0
        for view in views:
            spans.append((size, view.nbytes))
            size += -(-view.nbytes // _ALIGNMENT) * _ALIGNMENT
        place = self._take(size)
        for (at, count), view in zip(spans, views, strict=True):
            place.mapped[at : at + count] = view
        return Packed(text, place.path, place.size, spans), place

    def give_back(self, place: Place) -> None:
        with self._lock:
            if not self._closed:
                self._free.append(place)
                return
        place.close()

    def close(self) -> None:
        """Closes what is free, and the others when they are given back."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for place in free:
            place.close()

    # The smallest that is large enough; else a new one, of a power of two, so that batches of nearly one size share places.
    def _take(self, size: int) -> Place:
        with self._lock:
            fits = [place for place in self._free if place.size >= size]
            if fits:
                place = min(fits, key=lambda each: each.size)
                self._free.remove(place)
                return place
        return Place(1 << max(size - 1, mmap.PAGESIZE - 1).bit_length())


# True: it stays in the text.
def _keep_small(buffer: pickle.PickleBuffer, large: list[pickle.PickleBuffer]) -> bool:
    if buffer.raw().nbytes < _LEAST_BYTES:
        return True
    large.append(buffer)
    return False


def do_packed(packed: Packed) -> Any:
    """Of the other process: does the call. Its large arrays can be read, and are others' when it returns."""
    fn, args, kwargs = unpacked(packed)
    return fn(*args, **kwargs)


def unpacked(packed: Packed) -> Any:
    """Function, arguments, and named ones; arrays among them can be read as long as the call has not been answered."""
    views: list[memoryview] = []
    if packed.spans:
        mapped = memoryview(_opened(packed.path, packed.size))
        views = [mapped[at : at + count] for at, count in packed.spans]
    return pickle.loads(packed.call, buffers=views)


# A path names one place only as long as it is open; but a place stays as it is while its lender lives.
@functools.lru_cache(maxsize=64)
def _opened(path: str, size: int) -> mmap.mmap:
    memory = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return mmap.mmap(memory, size, prot=mmap.PROT_READ)
    finally:
        os.close(memory)

