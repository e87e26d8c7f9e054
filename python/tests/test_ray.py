"""Ray as the engine, where it is installed: one small cluster on this machine."""

import socket
import subprocess
import sys
import time

import pytest

import tidemill as tm
import tidemill.sweep
from tidemill.sweep.ray_executor import RayExecutor

pytest.importorskip("ray", reason="the Python package ray is not there")

BER = {
    "count": "ber",
    "seed": 3,
    "ber": {"modcod": "QPSK 8/9", "frame": "short", "esn0": [5.9, 6.1]},
    "until": {"errors": 12, "frames": 150},
    "ranges": {"frames": 10},
}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """That sweeps find by its address, as they would a cluster of many hosts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--head", "--block", "--node-ip-address=127.0.0.1", f"--port={port}", "--num-cpus=2"]
    program = [sys.executable, "-m", "ray.scripts.scripts", "start", *words, "--include-dashboard=false"]
    head = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
    yield
    patch.undo()
    head.terminate()
    head.wait()


def test_a_sweep_takes_ray_where_its_address_is_set_and_counts_what_one_machine_does():
    told = []

    def sweep():
        return tm.sweep.run(BER, tell=lambda dealer: told.append(dealer.engine.text))

    result = _once_it_is_there(sweep)
    assert told[0] == "2 workers of ray (RAY_ADDRESS is set)"
    expected = tm.dvbs2.ber("QPSK 8/9", frame="short", esn0=[5.9, 6.1], errors=12, frames=150, seed=3)
    for name in ("frames", "frames_wrong", "bits_wrong", "ldpc_iterations_total"):
        assert [row[name] for row in result.rows] == expected.data[name].tolist()


def _once_it_is_there(call):
    for _ in range(30):
        try:
            return call()
        except tm.JobFailed as failed:
            assert "Ray cannot be reached" in str(failed)
            time.sleep(1)  # of another program nothing else tells
    return call()


def test_where_ray_ends_its_process_a_sweep_ends_with_a_sentence_and_goes_on(monkeypatch, tmp_path):
    """As it does with whoever uses it, when the cluster's part of this host is no more."""
    submit, count = RayExecutor.submit, 0

    def submit_and_end(executor, *call, **more):
        nonlocal count
        count += 1
        if count == 8:
            executor._process.kill()
        return submit(executor, *call, **more)

    state = tmp_path / "ber.sweep"
    with monkeypatch.context() as patch:
        patch.setattr(RayExecutor, "submit", submit_and_end)
        with pytest.raises(tm.JobFailed, match="the engine has gone away: Ray's cluster has gone away"):
            tm.sweep.run(BER, state=state)
    assert tm.sweep.run(BER, state=state, resume=True).rows == tm.sweep.run(BER, engine="processes", workers=2).rows
