"""What dealing costs: ./x python bench-sweep. Sweeps on two workers over the same ranges counted one after the other in one
process, and an archive's two workers over one, each in turns in the same run; ratios are medians of the rounds."""

import argparse
import ctypes
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tidemill as tm
import tidemill.archive
from tidemill.figures import Note
from tidemill.sweep.kinds import Range, add
from tidemill.sweep.registry import KINDS

ROOT = Path(__file__).resolve().parents[2]
RANGES = 96
POINT = {"modcod": "QPSK 1/2", "frame": "normal", "margin": -0.05}


def plan(frames):
    return {"count": "ber", "ber": POINT, "until": {"errors": 10**9, "frames": RANGES * frames}, "ranges": {"frames": frames}}


def cpu_seconds(command, folder):
    """Processor time of a command and all that it starts, its wall time, and what it prints."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    wall_s = time.perf_counter() - began
    wait_for_orphans()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, wall_s, json.loads(ended.stdout)


# A process of this machine has its workers from a server that outlives it for a moment: their time counts once they have
# been waited for.
def adopt_orphans():
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError("orphans cannot be adopted here")


def wait_for_orphans():
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def one_after_the_other(frames):
    """What the baseline's process does: the ranges, and how much processor time they took."""
    counts, began = {}, time.process_time()
    (point,) = KINDS["ber"].points(_table(POINT))
    for k in range(RANGES):
        add(counts, KINDS["ber"].count(point, 1, "", Range(k * frames, frames, None)).counts)
    print(json.dumps({"counts": counts, "cpu_s": time.process_time() - began}))


def _table(entries):
    from tidemill.sweep.settings import Table

    return Table("the benchmark", entries)


def toml(frames):
    wanted = plan(frames)
    point = "\n".join(f"{name} = {json.dumps(value)}" for name, value in POINT.items())
    until = "\n".join(f"{name} = {value}" for name, value in wanted["until"].items())
    return f'count = "ber"\n[ber]\n{point}\n[until]\n{until}\n[ranges]\nframes = {frames}\n'


def sweep_commands():
    program = [sys.executable, "-m", "tidemill.sweep.command", "ber.toml", "--json"]
    commands = {"processes": [*program, "--workers", "2"]}
    if shutil.which("mpirun") and _has("mpi4py"):
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        commands["mpi"] = ["mpirun", *as_root, "--oversubscribe", "-np", "3", *program]
    return commands


def _has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def bench_sweeps(rounds, frames):
    ratios, walls = {}, {}
    for _ in range(rounds):
        base = subprocess.run(
            [sys.executable, __file__, "--ranges-of", str(frames)], stdout=subprocess.PIPE, check=True
        )
        own = json.loads(base.stdout)
        for name, command in sweep_commands().items():
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "ber.toml").write_text(toml(frames), encoding="utf-8")
                used, wall_s, said = cpu_seconds(command, folder)
            row = said["rows"][0]
            assert all(row[field] == value for field, value in own["counts"].items()), "other counts"
            ratios.setdefault(name, []).append(used / own["cpu_s"])
            walls.setdefault(name, []).append(wall_s / own["cpu_s"])
    for name, values in ratios.items():
        print(
            f"sweep, 2 workers of {name}, {RANGES} ranges of {own['cpu_s'] / RANGES:.2f} s: "
            f"{statistics.median(values):.3f} of the work's own processor time "
            f"({min(values):.3f} to {max(values):.3f}, {rounds} rounds), {statistics.median(walls[name]):.2f} of its time"
        )


def bench_archive(rounds, copies):
    times = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(copies):
            described = json.loads((ROOT / "data/demo.sigmf-meta").read_text(encoding="utf-8"))
            described["global"].pop("core:sha512", None)
            content = np.fromfile(ROOT / "data/demo.sigmf-data", np.uint8)
            content[k] ^= 1  # so that no two are the same
            (folder / f"r{k}.sigmf-meta").write_text(json.dumps(described))
            content.tofile(folder / f"r{k}.sigmf-data")
        for _ in range(rounds):
            for workers, taken in times.items():
                with tempfile.TemporaryDirectory() as to:
                    began = time.perf_counter()
                    tm.archive.run(folder, to, workers=workers, engine="processes")
                    taken.append(time.perf_counter() - began)
    ratios = [one / two for one, two in zip(times[1], times[2], strict=True)]
    print(
        f"archive of {copies} recordings, two workers over one: {statistics.median(ratios):.2f} times as fast "
        f"({min(ratios):.2f} to {max(ratios):.2f}, {rounds} rounds of {statistics.median(times[2]):.1f} s)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=1300, help="of a range: about a second of one worker's time")
    parser.add_argument("--recordings", type=int, default=60)
    parser.add_argument("--ranges-of", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ranges_of:
        one_after_the_other(given.ranges_of)
        return
    adopt_orphans()
    print(Note("./x python bench-sweep", seed=1))
    bench_sweeps(given.rounds, given.frames)
    bench_archive(given.rounds, given.recordings)


if __name__ == "__main__":
    main()
