"""What else lies in the package: for CMake, and for lawyers."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent


def cmake_folder() -> Path:
    """For programs in C++: `cmake -Dtidemill_DIR=$(python -c "import tidemill; print(tidemill.cmake_folder())")`."""
    return _FOLDER / "lib" / "cmake" / "tidemill"


def licences() -> dict[str, str]:
    """The notices of all whose code is in this package, by file name."""
    return {file.name: file.read_text("utf-8") for file in sorted((_FOLDER / "licences").glob("*")) if file.is_file()}
