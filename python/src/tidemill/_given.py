"""What callers give, looked at where they give it: a sentence says which argument it was, and what to give."""

from __future__ import annotations

import os
from math import isnan
from operator import index
from typing import Any, TypeVar

from . import _core

_MOST = 2**63 - 1
T = TypeVar("T")


def whole(
    name: str, value: Any, least: int = 0, most: int = _MOST, *, error: type[Exception] = _core.WrongUsage
) -> int:
    """A whole number from `least` to `most`. Throws TypeError for what is none, and `error` for another one."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name}={_told(value)}: give a whole number") from None
    if not least <= number <= most:
        above = f"give {least} or more" if number < least else f"give at most {most}"
        raise error(f"{name}={_told(number)}: {above}")
    return number


def seed(value: Any) -> int:
    """Of random numbers: 64 bits."""
    return whole("seed", value, 0, 2**64 - 1)


def number(
    name: str,
    value: Any,
    least: float = float("-inf"),
    most: float = float("inf"),
    *,
    error: type[Exception] = _core.WrongUsage,
) -> float:
    """A number from `least` to `most`. Throws TypeError for what is none, and `error` for another one, or NaN."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        given = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={_told(value)}: give a number") from None
    except OverflowError:
        raise error(f"{name}={_told(value)}: give a number below 1e308") from None
    if isnan(given) or not least <= given <= most:
        raise error(f"{name}={_told(value)}: give a number {_range(least, most)}".rstrip())
    return given


def instance(name: str, value: Any, of: type[T] | tuple[type[T], ...], what: str) -> T:
    """One of a class; throws TypeError, saying `what` to give, for anything else."""
    if not isinstance(value, of):
        raise TypeError(f"{name}={_told(value)}: give {what}")
    return value


def text(name: str, value: Any) -> str:
    """A text that can be written in UTF-8."""
    given = instance(name, value, str, "a text")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}={_told(value)}: give a text without halves of surrogate pairs") from None
    return given


def path(name: str, value: Any) -> str:
    """The name of a file."""
    try:
        given = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name}={_told(value)}: give the name of a file, a text or a path") from None
    try:
        is_name = b"\0" not in os.fsencode(given)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise ValueError(f"{name}={_told(value)}: no file can be called that")
    return given


def _told(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _range(least: float, most: float) -> str:
    if most == float("inf"):
        return "" if least == float("-inf") else f"of {least:g} or more"
    return f"up to {most:g}" if least == float("-inf") else f"from {least:g} to {most:g}"
