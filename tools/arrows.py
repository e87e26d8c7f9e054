#!/usr/bin/env python3
"""Checks that includes point down: to houses that the CMakeLists.txt names, and never in a circle between folders.

usage: tools/arrows.py

A house is a folder of tidemill/ with a CMakeLists.txt that says which others it USES; what these use counts, too. Benchmarks
and fixtures of tests may include all, and so may the two files that name all verbs. Prints what is wrong; the exit status
is 1 if anything is.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOM = re.compile(r"tidemill_room\((\w+)[^)]*?(?: USES ([a-z0-9 ]*))?(?: LINKS[^)]*)?\)")
INCLUDE = re.compile(r'^#include "tidemill/([^"]+)"', re.MULTILINE)
FREE = re.compile(r"_bench\.cpp$|/testing/|^testing/|^cli/(verbs|tidemill_main)\.cpp$")
LEFT_OUT = re.compile(r"_(test|bench|fuzz)\.cpp$|/testing/")
CPP = re.compile(r"\.(cpp|hpp|cc|h)$")
Folder = str


def uses() -> dict[str, set[str]]:
    """Each house, with all that it may include."""
    named = {}
    for file in Path("tidemill").glob("*/CMakeLists.txt"):
        if found := ROOM.search(file.read_text()):
            named[found[1]] = set((found[2] or "").split())

    def reach(house: str) -> set[str]:
        return {house}.union(*(reach(used) for used in named[house]))

    return {house: reach(house) for house in named}


def includes() -> dict[str, list[str]]:
    """Files below tidemill/, with what they include of it."""
    listed = subprocess.check_output(["git", "ls-files", "tidemill"], text=True).splitlines()
    files = [Path(name) for name in listed if CPP.search(name) and Path(name).exists()]
    return {str(file.relative_to("tidemill")): INCLUDE.findall(file.read_text(errors="replace")) for file in files}


def house_of(file: str) -> str:
    return file.split("/")[0] if "/" in file else ""


def folder_of(file: str) -> Folder:
    """HOUSE/FOLDER, or HOUSE alone: folders within these, as internal/, are parts of them."""
    parts = file.split("/")[:-1]
    return "/".join(part for part in parts[:2] if part not in ("internal", "testing"))


def circles(arrows: dict[Folder, set[Folder]]) -> list[list[Folder]]:
    """A way round for each folder that is reached from itself by a shortest one."""
    found: dict[frozenset[Folder], list[Folder]] = {}
    for start in sorted(arrows):
        ways = [[start]]
        seen: set[Folder] = set()
        while ways:
            way = ways.pop(0)
            for to in sorted(arrows[way[-1]]):
                if to == start:
                    found.setdefault(frozenset(way), [*way, start])
                elif to not in seen:
                    seen.add(to)
                    ways.append([*way, to])
    return list(found.values())


def main() -> int:
    allowed, wrong = uses(), []
    arrows: dict[Folder, set[Folder]] = defaultdict(set)
    for file, included in includes().items():
        for other in included:
            house, used = house_of(file), house_of(other)
            if house and used not in allowed.get(house, {house}) | {"testing"} and not FREE.search(file):
                wrong.append(f"tidemill/{file} includes {other}: {house} does not use {used or 'what is for users'}")
            if house == used and not LEFT_OUT.search(file) and folder_of(file) != folder_of(other):
                arrows[folder_of(file)].add(folder_of(other))
    wrong += ["folders in a circle: " + " -> ".join(way) for way in circles(arrows)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
