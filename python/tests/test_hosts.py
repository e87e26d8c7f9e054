"""Two hosts: network namespaces with a link between them, also a slow one, and where netem is there a lossy one (./x
test-hosts)."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from two_hosts import SCHEDULER, NoHosts, Programs, errors_of, link_of, two_hosts

import tidemill as tm
import tidemill.sweep

pytest.importorskip("distributed", reason="the Python package distributed is not there")
ENVIRONMENT = {**os.environ, "DASK_SCHEDULER_ADDRESS": SCHEDULER}
TOML = errors_of([5.9, 6.1, 6.3], 2000)


@pytest.fixture(params=[[], link_of(20), ["netem", "delay", "5ms", "2ms", "loss", "1%"]], ids=["link", "slow", "lossy"])
def hosts(request):
    with ExitStack() as stack:
        try:
            names = stack.enter_context(two_hosts(request.param))
        except NoHosts as none:
            pytest.skip(str(none))
        yield names


@pytest.fixture
def programs(tmp_path):
    with Programs(tmp_path) as programs:
        yield programs


def test_a_helper_that_is_killed_and_comes_back_changes_no_count(hosts, programs, tmp_path):
    head, helper = hosts
    (tmp_path / "ber.toml").write_text(TOML)
    programs.scheduler(head)
    first = programs.worker(helper)
    words = [sys.executable, "-m", "tidemill.sweep.command", "ber.toml", "--engine", "dask", "--json", "--workers", "1"]

    def start():
        return programs.start(head, *words, "--resume", stdout=subprocess.PIPE, env=ENVIRONMENT)

    sweep = _sweep_once_there_is_a_helper(start, tmp_path)
    first.send_signal(signal.SIGKILL)
    programs.worker(helper)
    out, _ = sweep.communicate(timeout=300)
    assert sweep.returncode == 0
    whole = tm.dvbs2.ber("QPSK 8/9", frame="short", esn0=[5.9, 6.1, 6.3], errors=10**6, frames=2000, seed=8)
    rows = json.loads(out)["rows"]
    for name in ("frames", "frames_wrong", "bits_wrong", "ldpc_iterations_total"):
        assert [row[name] for row in rows] == whole.data[name].tolist(), name


# Until the scheduler and its worker are there, a sweep ends with a sentence.
def _sweep_once_there_is_a_helper(start, folder):
    for _ in range(20):
        sweep = start()
        while sweep.poll() is None:
            if _frames_saved(folder):
                return sweep
            time.sleep(0.02)
    raise AssertionError((folder / "log-2").read_text())


def _frames_saved(folder):
    try:
        return sum(row["frames"] for row in tm.sweep.status(folder / "ber.sweep")["rows"])
    except tm.sweep.SweepError:
        return 0
