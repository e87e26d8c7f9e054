"""What a run or a reception tells, as a dictionary whose entries are attributes, too."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from . import _core


class Record(Mapping[str, Any]):
    """Names and values: `record.frames` is `record["frames"]`. Inner dictionaries are records."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> Any:
        return _wrapped(self._entries[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getattr__(self, name: str) -> Any:
        entries: dict[str, Any] = self.__dict__.get("_entries", {})
        if name in entries:
            return _wrapped(entries[name])
        raise AttributeError(f"{type(self).__name__} has no '{name}'; there are: {', '.join(entries)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._entries]

    def __repr__(self) -> str:
        lines = [f"{name}: {value!r}" for name, value in self._entries.items() if not isinstance(value, (dict, list))]
        return f"<{type(self).__name__}\n  " + "\n  ".join(lines) + ">"

    def _repr_html_(self) -> str:
        import html  # for notebooks alone

        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in self._entries.items()
            if not isinstance(value, (dict, list))
        )
        return f"<table>{rows}</table>"


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    return [_wrapped(each) for each in value] if isinstance(value, list) else value


def tell_warnings() -> None:
    """Passes on what the library warned of meanwhile."""
    for text in _core.take_warnings():
        warnings.warn(text, RuntimeWarning, stacklevel=3)
