"""The laboratory's extension, which is loaded when something of it is first used: a build may go without it."""

from __future__ import annotations

import atexit
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _core

__all__ = ["SimError", "lab"]


class SimError(_core.Error):
    """A published figure that there is not."""


if TYPE_CHECKING:
    from . import _lab as lab
else:

    class _Lab:
        """Has the extension's names once it is loaded."""

        def __getattr__(self, name: str) -> Any:
            try:
                loaded = import_module("._lab", __package__)
            except ModuleNotFoundError:
                text = "this build of Tidemill has no laboratory: take a published wheel, or build with TIDEMILL_LAB=ON"
                raise ImportError(text, name=f"{__package__}._lab") from None
            loaded.raise_sim_errors_as(SimError)
            atexit.register(loaded.end_live_runs)
            vars(self).update(vars(loaded))
            return getattr(loaded, name)

    lab = _Lab()
