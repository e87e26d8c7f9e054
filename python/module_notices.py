"""Writes the notices of what is compiled into the module beside Debian's packages: nanobind, its hash table, NumPy.

usage: module_notices.py FOLDER NANOBIND_FOLDER
"""

import re
import sys
from importlib.metadata import distribution
from pathlib import Path


def notice_of(package: str) -> str:
    """Its own, without those of what it ships along; where a system's package keeps it is not known."""
    licences = [file for file in distribution(package).files or [] if file.name.upper().startswith("LICENSE")]
    if not licences:
        return "Its notices come with it.\n"
    own = min(licences, key=lambda file: len(file.parts))
    return Path(str(own.locate())).read_text("utf-8").partition("\n----\n")[0]


def first_comment(header: Path) -> str:
    comment = header.read_text("utf-8").partition("/**\n")[2].partition(" */")[0]
    return re.sub(r"^ \* ?", "", comment, flags=re.MULTILINE)


def main() -> None:
    folder, nanobind = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for package in ("nanobind", "numpy"):
        (folder / f"{package}.txt").write_text(notice_of(package), "utf-8")
    table = nanobind / "ext/robin_map/include/tsl/robin_map.h"
    if table.exists():
        (folder / "robin-map.txt").write_text(first_comment(table), "utf-8")


if __name__ == "__main__":
    main()
