"""A figure, the data that it shows, and how it came about."""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .. import _core
from .style import styled


@cache
def machine() -> str:
    """The processor of this machine, and its cores by kind."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, cores {_core.cores_here()}"


@dataclass(frozen=True)
class Note:
    """How a figure came about."""

    command: str
    """The call that made what it shows; empty where nobody knows."""
    seed: int | None = None
    version: str = _core.version
    machine: str = field(default_factory=machine)

    def __str__(self) -> str:
        seed = "" if self.seed is None else f"; seed {self.seed}"
        return f"tidemill {self.version}; {self.command or 'command unknown'}{seed}; {self.machine}"


@dataclass(frozen=True, repr=False)
class Figure:
    """A matplotlib figure in `sheet`, its axes, its data in tidy columns, and a note."""

    sheet: Any
    axes: Any
    data: Mapping[str, Any]
    note: Note

    def __repr__(self) -> str:
        return f"<Figure of {', '.join(self.data)}; {self.note}>"

    def savefig(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes PDF, SVG, PNG or what else matplotlib can, by the name; the note goes into the file."""
        keys = {".pdf": "Subject", ".png": "Description", ".svg": "Description"}
        key = keys.get(Path(path).suffix.lower())
        with styled():
            self.sheet.savefig(path, **({"metadata": {key: str(self.note)}} if key else {}), **options)

    def to_csv(self) -> str:
        """The data, and the note as a comment in the first line."""
        text = io.StringIO()
        text.write(f"# {self.note}\n")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(self.data)
        table.writerows(zip(*self.data.values(), strict=True))
        return text.getvalue()

    def to_pandas(self) -> Any:
        """The data as a table; needs the package pandas."""
        import pandas

        return pandas.DataFrame(dict(self.data))

    def _repr_svg_(self) -> str:
        """For notebooks, which take this where they can: sharp at any size, with the note; clouds of points are pictures."""
        text = io.StringIO()
        with styled():
            self.sheet.savefig(text, format="svg", metadata={"Description": str(self.note)})
        return text.getvalue()

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with styled():
            self.sheet.savefig(picture, format="png", dpi=150)
        return picture.getvalue()
