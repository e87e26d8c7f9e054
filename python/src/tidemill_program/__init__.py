"""The command `tidemill` of the wheel: the program that lies in the package, run in place of Python.

A package of its own, so that it starts without NumPy.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Becomes the program, with the arguments of this process."""
    program = package_folder() / "bin" / "tidemill"
    old = what_is_too_old()
    if old:
        sys.exit(f"tidemill: {old}")
    # Verbs that are Python's lie beside this command, which need not be on the path.
    beside = os.path.dirname(os.path.abspath(sys.argv[0]))
    os.environ["PATH"] = os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
    try:
        os.execv(program, ["tidemill", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tidemill: {program} cannot be run: {error.strerror}; install the package again")


def package_folder() -> Path:
    """Where the package tidemill lies."""
    spec = find_spec("tidemill")
    if spec is None or spec.origin is None:
        sys.exit("tidemill: the package tidemill is not there; install it again")
    return Path(spec.origin).parent


def what_is_too_old() -> str | None:
    """A sentence, where this system's C library is older than the one that the wheel was made for."""
    here, wanted = glibc_here(), glibc_wanted()
    if here is None or wanted is None or here >= wanted:
        return None
    return (
        f"it was built for systems with glibc {wanted[0]}.{wanted[1]} or newer, and this one has {here[0]}.{here[1]}: "
        "take a newer system, or build it here from its source"
    )


def glibc_here() -> tuple[int, int] | None:
    """The version of this system's C library, where that is glibc."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (AttributeError, ValueError, OSError):
        return None
    return _version(version) if name == "glibc" else None


def glibc_wanted() -> tuple[int, int] | None:
    """What the wheel's own tag says (manylinux_2_35_x86_64); a package that was built in place says nothing."""
    try:
        return wanted_by(distribution("tidemill"))
    except PackageNotFoundError:
        return None


def wanted_by(wheel: Distribution) -> tuple[int, int] | None:
    for line in (wheel.read_text("WHEEL") or "").splitlines():
        platform = line.rpartition("-")[2]
        if line.startswith("Tag:") and platform.startswith("manylinux_"):
            return _version(".".join(platform.split("_")[1:3]))
    return None


def _version(text: str) -> tuple[int, int] | None:
    numbers = text.split(".")[:2]
    return (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 and all(n.isdigit() for n in numbers) else None
