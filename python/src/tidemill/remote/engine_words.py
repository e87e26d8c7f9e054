"""How engines that can decode are named: "processes:4"."""

from __future__ import annotations

_ENGINES = ("processes", "ray", "dask")
ENGINE_WORDS = f"one of {', '.join(_ENGINES)} and 1 to 4096 helpers"


def engine_of(text: str) -> tuple[str, int | None] | None:
    """Name and helpers, None for all there are; nothing for other words."""
    name, colon, count = text.partition(":")
    fits = not colon or (count.isascii() and count.isdigit() and 1 <= int(count) <= 4096)
    return (name, int(count) if colon else None) if name in _ENGINES and fits else None
