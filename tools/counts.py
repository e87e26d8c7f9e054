#!/usr/bin/env python3
"""Counts lines of code and types of each house, here or in a commit.

usage: tools/counts.py [COMMIT]

A line of code has more than white space and comment. A type is a class, struct, union or enumeration that is defined.
Counted is what libraries and programs are made of: a source that is no test, benchmark or fuzzer, and the headers that it
reaches by includes. Python counts too, its tests apart. The street is all houses but bindings and verify, and those beside it.
Commits from before the houses had folders have rooms instead.
"""

import re
import subprocess
import sys
import tarfile
from collections import Counter
from io import BytesIO

from arrows import CPP, LEFT_OUT

BINDINGS = ("c", "loopback", "python", "gr-tidemill")
BESIDE = (*BINDINGS, "lab", "steer", "gpu", "verify", "schedext")
INCLUDE = re.compile(r'^#include "(tidemill/[^"]+)"', re.MULTILINE)
NOISE = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL
)
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*)?[\w:]+(?:\s+final)?\s*(?::[^;{()]*)?\{")


def house_of(name: str) -> str:
    if name.startswith("tidemill/runtime/verify/"):
        return "verify"
    folders = name.split("/")[:-1]
    return folders[0] if folders[0] != "tidemill" else folders[1] if len(folders) > 1 else "for users"


def files_of(commit: str | None) -> dict[str, str]:
    if commit is None:
        names = subprocess.check_output(["git", "ls-files"], text=True).splitlines()
        return {name: open(name, errors="replace").read() for name in names if CPP.search(name) or name.endswith(".py")}
    packed = subprocess.check_output(["git", "archive", commit])
    with tarfile.open(fileobj=BytesIO(packed)) as tree:
        return {
            each.name: tree.extractfile(each).read().decode(errors="replace")
            for each in tree
            if each.isfile() and (CPP.search(each.name) or each.name.endswith(".py"))
        }


def without_comments(text: str) -> str:
    """The text with comments blank, and texts in quotes empty but as many lines long."""

    def blank(match: re.Match[str]) -> str:
        lines = "\n" * match[0].count("\n")
        return lines if match[0].startswith("/") else f'""{lines}'

    return NOISE.sub(blank, text)


def lines_in(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def followed(files: dict[str, str], names: list[str], with_sources: bool = False) -> set[str]:
    """These files and all that they include, followed to the end; also the source beside each header."""
    open_, found = [name for name in names if not LEFT_OUT.search(name)], set()
    while open_:
        name = open_.pop()
        if name in files and name not in found:
            found.add(name)
            open_ += INCLUDE.findall(files[name])
            if with_sources and name.endswith(".hpp"):
                open_.append(name.removesuffix(".hpp") + ".cpp")
    return found


def reached(files: dict[str, str]) -> set[str]:
    begin = [name for name in files if re.search(r"\.(cpp|cc)$", name) or re.fullmatch(r"tidemill/[^/]*\.hpp|.*\.h", name)]
    return {name for name in followed(files, begin) if not LEFT_OUT.search(name)}


def opened_by(house: str, files: dict[str, str]) -> int:
    """Lines of other houses that its sources open."""
    own = [name for name in files if CPP.search(name) and house_of(name) == house]
    found = followed(files, own, with_sources=True)
    return sum(files[name].count("\n") for name in found if house_of(name) != house)


def python_lines(files: dict[str, str]) -> int:
    kept = [text for name, text in files.items() if name.startswith("python/src/") and name.endswith(".py")]
    return sum(1 for text in kept for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def main() -> None:
    files = files_of(sys.argv[1] if len(sys.argv) > 1 else None)
    lines: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for name in reached(files):
        if name.startswith(("tidemill/", "python/", "gr-tidemill/", "schedext/")):
            text = without_comments(files[name])
            lines[house_of(name)] += lines_in(text)
            types[house_of(name)] += len(TYPE.findall(text))
    street = [house for house in lines if house not in BESIDE]
    print(f"{'house':<12} {'lines':>7} {'types':>6}")
    for house in sorted(lines, key=lambda house: (house in BESIDE, house)):
        print(f"{house:<12} {lines[house]:7} {types[house]:6}")
    print(f"{'the street':<12} {sum(lines[h] for h in street):7} {sum(types[h] for h in street):6}")
    print(f"{'all C++':<12} {lines.total():7} {types.total():6}")
    print(f"{'Python':<12} {python_lines(files):7}")
    print(f"dvbs2 opens {opened_by('dvbs2', files)} lines of other houses, comments and blanks included")


if __name__ == "__main__":
    main()
