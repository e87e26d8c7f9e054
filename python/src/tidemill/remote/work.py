"""What a helper does: decodes batches of frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..sweep.work import build_here


@dataclass(frozen=True)
class Batch:
    """Frames on their way to a decoder: soft bits one frame behind the other."""

    pls_codes: NDArray[np.uint8]
    gaps: NDArray[np.bool_]
    llrs: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.pls_codes)


@dataclass(frozen=True)
class Decoded:
    """What became of them; BBFRAMEs of the good ones, one behind the other. `build`: who decoded."""

    build: str
    good: NDArray[np.bool_]
    ldpc_iterations: NDArray[np.int32]
    bbframes: NDArray[np.uint8]


def decoded(batch: Batch) -> Decoded:
    """Depends on the batch alone."""
    return Decoded(build_here(), *_core.decode_batch(batch.pls_codes, batch.llrs))


def why_not(batch: Batch, answer: object) -> str:
    """What is wrong with what a helper sent back; empty: nothing."""
    if not isinstance(answer, Decoded):
        return f"it sent a {type(answer).__name__}"
    if answer.build != build_here():
        return f"it has build {answer.build}, this is {build_here()}: install the same on all"
    arrays = ((answer.good, np.bool_), (answer.ldpc_iterations, np.int32), (answer.bbframes, np.uint8))
    if not all(isinstance(array, np.ndarray) and array.dtype == kind and array.ndim == 1 for array, kind in arrays):
        return "it sent something else than arrays of flags, numbers and bytes"
    if not len(answer.good) == len(answer.ldpc_iterations) == len(batch):
        return f"it decoded {len(answer.good)} frames of {len(batch)}"
    wanted = sum(_core.bbframe_bytes(int(code)) for code in batch.pls_codes[answer.good])
    return "" if wanted == len(answer.bbframes) else f"it sent {len(answer.bbframes)} bytes of frames instead of {wanted}"
