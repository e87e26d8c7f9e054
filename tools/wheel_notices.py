#!/usr/bin/env python3
"""Puts into a wheel the notices of the system's libraries that auditwheel has put into it.

usage: wheel_notices.py WHEEL; needs the package wheel, and Debian's notes of its packages
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def library_name(bundled: str) -> str:
    """libfmt-1f2e3d4c.so.9.1.0 is libfmt.so.9.1.0 in the system."""
    return re.sub(r"-[0-9a-f]{8}\.so", ".so", bundled)


def package_of(library: str) -> str:
    found = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True, check=False).stdout
    if not found:
        sys.exit(f"no package owns {library}, so its notices are not known: the wheel must not be given away")
    return found.partition(":")[0]


def add_notices(unpacked: Path) -> list[str]:
    packages = sorted({package_of(library_name(each.name)) for each in unpacked.glob("tidemill.libs/*.so*")})
    for package in packages:
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", unpacked / "tidemill/licences" / f"{package}.txt")
    return packages


def main() -> None:
    wheel = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel], check=True, stdout=subprocess.DEVNULL)
        (unpacked,) = Path(folder).iterdir()
        packages = add_notices(unpacked)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", wheel.parent, unpacked], check=True,
                       stdout=subprocess.DEVNULL)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, with the notices of {', '.join(packages)}")


if __name__ == "__main__":
    main()
