"""Sweeps under MPI: the same counts, and a world that dies goes on from its state (./x test-mpi)."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import tidemill as tm
import tidemill.sweep

pytest.importorskip("mpi4py", reason="the Python package mpi4py is not there")
pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not there (openmpi-bin)")

TOML = """
count = "ber"
seed = 5
[ber]
modcod = "QPSK 8/9"
frame = "short"
esn0 = [5.9, 6.1, 6.3]
[until]
errors = 40
frames = {frames}
[ranges]
frames = 10
"""


def _world(folder, ranks, *words):
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    program = [sys.executable, "-m", "tidemill.sweep.command", "ber.toml", "--json", *words]
    return subprocess.Popen(
        ["mpirun", *as_root, "--oversubscribe", "-np", str(ranks), *program],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _counts(out):
    return [[row[name] for name in ("frames", "frames_wrong", "bits_wrong")] for row in json.loads(out)["rows"]]


def _expected(frames):
    data = tm.dvbs2.ber("QPSK 8/9", frame="short", esn0=[5.9, 6.1, 6.3], errors=40, frames=frames, seed=5).data
    return [list(row) for row in zip(data["frames"], data["frames_wrong"], data["bits_wrong"], strict=True)]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_world_counts_what_one_machine_does(ranks, tmp_path):
    (tmp_path / "ber.toml").write_text(TOML.format(frames=300))
    out, err = (world := _world(tmp_path, ranks)).communicate(timeout=120)
    assert world.returncode == 0, err
    assert f"{ranks - 1} workers of mpi (OMPI_COMM_WORLD_SIZE is set)" in err
    assert _counts(out) == _expected(300)


def test_a_world_that_is_killed_again_and_again_goes_on_from_its_state(tmp_path):
    (tmp_path / "ber.toml").write_text(TOML.format(frames=3000))
    deaths = 0
    for _ in range(4):
        world = _world(tmp_path, 3, "--resume")
        saved = _frames_saved(tmp_path)
        while world.poll() is None and _frames_saved(tmp_path) == saved:
            time.sleep(0.01)
        if world.poll() is None:
            _kill_a_rank(world.pid)
            assert world.wait(timeout=60) != 0
            deaths += 1
    assert deaths > 0
    out, err = (world := _world(tmp_path, 3, "--resume")).communicate(timeout=120)
    assert world.returncode == 0, err
    assert _counts(out) == _expected(3000)


def _frames_saved(folder):
    try:
        return sum(row["frames"] for row in tm.sweep.status(folder / "ber.sweep")["rows"])
    except tm.sweep.SweepError:
        return 0


def _kill_a_rank(launcher):
    with open(f"/proc/{launcher}/task/{launcher}/children", encoding="ascii") as file:
        os.kill(int(file.read().split()[-1]), signal.SIGKILL)


def test_a_sentence_of_the_head_ends_all_ranks(tmp_path):
    (tmp_path / "ber.toml").write_text(TOML.format(frames=0))
    out, err = (world := _world(tmp_path, 3)).communicate(timeout=120)
    assert world.returncode != 0 and "frames = 0: give a whole number from 1" in err
