"""A cluster of Ray as docs/guides/many-machines.md begins one: `ray start` here, and on a helper, two network namespaces."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from two_hosts import HEAD, HELPER, NoHosts, Programs, errors_of, two_hosts

import tidemill as tm
import tidemill.sweep

pytest.importorskip("ray", reason="the Python package ray is not there")
RAY = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
ENVIRONMENT = {**os.environ, "RAY_ADDRESS": f"{HEAD}:6379"}
TOML = errors_of([5.9, 6.1], 300)


@pytest.fixture
def hosts(tmp_path):
    try:
        with two_hosts([]) as names, Programs(tmp_path) as programs:
            yield *names, programs
    except NoHosts as none:
        pytest.skip(str(none))


def ray(programs, host, *words):
    return programs.start(host, *RAY, "--object-store-memory=200000000", *words, stdout=subprocess.DEVNULL)


def test_a_sweep_counts_on_the_host_that_has_joined_the_cluster(hosts, tmp_path):
    """The head offers no processor, so whatever is counted is counted by the other host."""
    head, helper, programs = hosts
    (tmp_path / "ber.toml").write_text(TOML)
    clusters = [
        ray(programs, head, "--head", f"--node-ip-address={HEAD}", "--port=6379", "--num-cpus=0", "--include-dashboard=false"),
        ray(programs, helper, f"--address={HEAD}:6379", f"--node-ip-address={HELPER}", "--num-cpus=1"),
    ]
    program = [sys.executable, "-m", "tidemill.sweep.command", "ber.toml", "--workers", "1", "--resume", "--json"]
    try:
        for _ in range(30):
            sweep = programs.start(head, *program, stdout=subprocess.PIPE, env=ENVIRONMENT)
            told, _ = sweep.communicate(timeout=300)
            if sweep.returncode == 0:
                break
            time.sleep(1)  # of another program nothing else tells
    finally:
        for cluster in clusters:
            cluster.send_signal(signal.SIGTERM)
        for cluster in clusters:
            cluster.wait(timeout=600)
    rows, expected = json.loads(told)["rows"], tm.sweep.run(tmp_path / "ber.toml", engine="processes", workers=1).rows
    for name in ("frames", "frames_wrong", "bits_wrong", "ldpc_iterations_total"):
        assert [row[name] for row in rows] == [row[name] for row in expected], name
