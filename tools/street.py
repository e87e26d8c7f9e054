#!/usr/bin/env python3
"""Checks the includes of the C++ sources against the houses of tools/street.txt.

usage: tools/street.py [--excuse]

Prints includes that point up the street, or from it to a house beside it, and excuses for which no such include is left;
the exit status is 1 if there are any. Excuses are the lines "excused FILE INCLUDED" of tools/street.txt: --excuse writes
them anew, for a list that may only become shorter. Tests, benchmarks and fuzzers may include all.
"""

import re
import subprocess
import sys
from pathlib import Path

STREET = Path(__file__).with_name("street.txt")
LEFT_OUT = re.compile(r"_(test|bench|fuzz)\.cpp$|/testing/")
INCLUDE = re.compile(r'^#include "(tidemill/[^"]+)"', re.MULTILINE)
Arrow = tuple[str, str]


class Street:
    """Houses from the top down, those beside, the places of all, and what is excused."""

    def __init__(self, text: str) -> None:
        self.order: list[str] = []
        self.places: dict[str, str | None] = {}  # of main: no house
        self.excused: set[Arrow] = set()
        for line in text.splitlines():
            match line.split():
                case ["main", *places]:
                    self.places.update(dict.fromkeys(places))
                case ["house" | "beside" as kind, house, *places]:
                    if kind == "house" and house not in self.order:
                        self.order.append(house)
                    self.places.update(dict.fromkeys(places, house))
                case ["excused", file, included]:
                    self.excused.add((file, included))

    def house_of(self, file: str) -> str | None:
        fitting = [place for place in self.places if self._holds(place, file)]
        return self.places[max(fitting, key=len)] if fitting else None

    @staticmethod
    def _holds(place: str, file: str) -> bool:
        return file.startswith(f"{place}/") or (
            file.startswith(place) and "/" not in file[len(place) :]
        )

    def allows(self, house: str | None, included: str | None) -> bool:
        if house is None or included is None or house == included:
            return True
        if house not in self.order:
            return included not in ("cli", "bindings")
        return included in self.order and self.order.index(house) < self.order.index(included)


def arrows_against(street: Street) -> set[Arrow]:
    listed = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.hpp", "*.h", "*.cc"], capture_output=True, text=True, check=True
    )
    found = set()
    for file in listed.stdout.split():
        if LEFT_OUT.search(file):
            continue
        house = street.house_of(file)
        for included in INCLUDE.findall(Path(file).read_text(errors="replace")):
            if not street.allows(house, street.house_of(included)):
                found.add((file, included))
    return found


def main() -> int:
    text = STREET.read_text()
    street = Street(text)
    found = arrows_against(street)
    if "--excuse" in sys.argv:
        kept = [line for line in text.splitlines() if not line.startswith("excused ")]
        STREET.write_text("\n".join(kept + [f"excused {a} {b}" for a, b in sorted(found)]) + "\n")
        return 0
    for file, included in sorted(found - street.excused):
        print(f"{file} includes {included}: {street.house_of(file)} -> {street.house_of(included)}")
    for file, included in sorted(street.excused - found):
        print(f"{file} no longer includes {included}: take that line out of {STREET.name}")
    return 1 if found ^ street.excused else 0


if __name__ == "__main__":
    sys.exit(main())
