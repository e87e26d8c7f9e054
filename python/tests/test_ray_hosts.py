"""A cluster of Ray as docs/many-machines.md begins one: `ray start` here, and on a helper, two network namespaces."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import tidemill as tm
from tidemill.bench.two_hosts import HEAD, HELPER, NoHosts, Programs, two_hosts

pytest.importorskip("ray", reason="the Python package ray is not there")
RAY = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
ENVIRONMENT = {**os.environ, "RAY_ADDRESS": f"{HEAD}:6379"}


@pytest.fixture
def hosts(tmp_path):
    try:
        with two_hosts([]) as names, Programs(tmp_path) as programs:
            yield *names, programs
    except NoHosts as none:
        pytest.skip(str(none))


def ray(programs, host, *words):
    return programs.start(host, *RAY, "--object-store-memory=200000000", *words, stdout=subprocess.DEVNULL)


def test_frames_are_decoded_on_the_host_that_has_joined_the_cluster(hosts, tmp_path, demo):
    """The head offers no processor, so whatever is decoded is decoded over the wire."""
    head, helper, programs = hosts
    clusters = [
        ray(programs, head, "--head", f"--node-ip-address={HEAD}", "--port=6379", "--num-cpus=0", "--include-dashboard=false"),
        ray(programs, helper, f"--address={HEAD}:6379", f"--node-ip-address={HELPER}", "--num-cpus=1"),
    ]
    words = ["--stage", "decode=ray:1", "--always", "--batch-bytes", "200000", "-o", "video.ts", "--json"]
    program = [sys.executable, "-m", "tidemill.remote.command", str(demo), *words]
    try:
        for _ in range(30):
            reception = programs.start(head, *program, stdout=subprocess.PIPE, env=ENVIRONMENT)
            told, _ = reception.communicate(timeout=300)
            if reception.returncode == 0:
                break
            time.sleep(1)  # of another program nothing else tells
    finally:
        for cluster in clusters:
            cluster.send_signal(signal.SIGTERM)
        for cluster in clusters:
            cluster.wait(timeout=600)
    report = json.loads(told)
    assert (tmp_path / "video.ts").read_bytes() == tm.dvbs2.receive(demo, executor="sequence").packets.tobytes()
    assert (report["frames"], report["frames_here"], report["failure"]) == (62, 0, "")
