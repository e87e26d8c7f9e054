"""Two hosts on one machine: network namespaces with a link between them, and Dask's scheduler and worker on them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEAD, HELPER = "10.77.7.1", "10.77.7.2"
SCHEDULER = f"tcp://{HEAD}:8786"


def errors_of(esn0: list[float], frames: int) -> str:
    """A sweep of bit errors that ends by its frames, as TOML."""
    return f"""
count = "ber"
seed = 8
[ber]
modcod = "QPSK 8/9"
frame = "short"
esn0 = {esn0}
[until]
errors = 1000000
frames = {frames}
[ranges]
frames = 50
"""


class NoHosts(Exception):
    """Namespaces, or a link of that shape, cannot be had here."""


@contextmanager
def two_hosts(shape: list[str]) -> Iterator[tuple[str, str]]:
    """Names of two namespaces. What passes their link is shaped as tc says; throws NoHosts."""
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None:
        raise NoHosts("network namespaces need root, ip and tc (iproute2)")
    names = tuple(f"tidemill-{name}-{os.getpid()}" for name in ("head", "helper"))
    ends = [f"tm{letter}{os.getpid()}" for letter in "ab"]
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
        for name, end, address in zip(names, ends, (HEAD, HELPER), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", end)
            _ip("-n", name, "link", "set", end, "up")
            if shape:
                _run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", end, "root", *shape)
        yield names[0], names[1]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


def link_of(mbit_per_s: int) -> list[str]:
    """A shape: so many megabits a second on the wire, headers included."""
    return ["tbf", "rate", f"{mbit_per_s}mbit", "burst", "128kb", "latency", "100ms"]


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*words: str) -> None:
    ended = subprocess.run(words, stderr=subprocess.PIPE, check=False)
    if ended.returncode != 0:
        raise NoHosts(f"{' '.join(words)}: {ended.stderr.decode(errors='replace').strip()}")


@dataclass
class Programs:
    """Of two hosts, what runs on them; all ends with it."""

    folder: Path
    _all: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, host: str, *words: str, **more: Any) -> subprocess.Popen[bytes]:
        """Errors go to a file of the folder."""
        with open(self.folder / f"log-{len(self._all)}", "wb") as log:
            program = subprocess.Popen(["ip", "netns", "exec", host, *words], cwd=self.folder, stderr=log, **more)
        self._all.append(program)
        return program

    def scheduler(self, host: str) -> subprocess.Popen[bytes]:
        return self.start(host, *_dask("scheduler", "--host", HEAD, "--port", "8786"))

    def worker(self, host: str) -> subprocess.Popen[bytes]:
        return self.start(host, *_dask("worker", SCHEDULER, "--host", HELPER, "--nthreads", "1", "--no-nanny"))

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._all:
            program.kill()
            program.wait()


def _dask(*words: str) -> list[str]:
    return [sys.executable, "-m", "dask", *words, "--no-dashboard"]
