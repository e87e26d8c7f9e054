"""Two hosts: network namespaces with a link between them, where netem is there also a slow and lossy one
(./x test-hosts)."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import tidemill as tm
import tidemill.sweep

pytest.importorskip("distributed", reason="the Python package distributed is not there")
HEAD, HELPER = "10.77.7.1", "10.77.7.2"
TOML = """
count = "ber"
seed = 8
[ber]
modcod = "QPSK 8/9"
frame = "short"
esn0 = [5.9, 6.1, 6.3]
[until]
errors = 1000000
frames = 2000
[ranges]
frames = 50
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, stderr=subprocess.PIPE)


@contextmanager
def two_hosts(shape):
    """Names of two namespaces. What passes their link is delayed and lost as tc says."""
    head, helper = (f"tidemill-{name}-{os.getpid()}" for name in ("head", "helper"))
    a, b = f"tma{os.getpid()}", f"tmb{os.getpid()}"
    try:
        for name in (head, helper):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("link", "add", a, "netns", head, "type", "veth", "peer", "name", b, "netns", helper)
        for name, link, address in ((head, a, HEAD), (helper, b, HELPER)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", link)
            ip("-n", name, "link", "set", link, "up")
            add = ["tc", "qdisc", "add", "dev", link, "root", *shape]
            if shape and subprocess.run(["ip", "netns", "exec", name, *add], capture_output=True, check=False).returncode:
                pytest.skip("the kernel has no netem (sch_netem)")
        yield head, helper
    finally:
        for name in (head, helper):
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


@pytest.fixture(params=[[], ["netem", "delay", "5ms", "2ms", "loss", "1%"]], ids=["link", "slow and lossy link"])
def hosts(request):
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None:
        pytest.skip("network namespaces need root, ip and tc (iproute2)")
    with two_hosts(request.param) as names:
        yield names


@pytest.fixture
def on(tmp_path):
    """Starts a program on a host; all end with the test."""
    programs = []

    def start(host, *words, **more):
        log = open(tmp_path / f"log-{len(programs)}", "wb")  # noqa: SIM115
        program = subprocess.Popen(["ip", "netns", "exec", host, *words], cwd=tmp_path, stderr=log, **more)
        programs.append(program)
        return program

    yield start
    for program in programs:
        program.kill()
        program.wait()


def dask(*words):
    return [sys.executable, "-m", "dask", *words, "--no-dashboard"]


def helper_on(on, host):
    words = dask("worker", f"tcp://{HEAD}:8786", "--host", HELPER, "--nthreads", "1", "--no-nanny")
    return on(host, *words)


def test_a_helper_that_is_killed_and_comes_back_changes_no_count(hosts, on, tmp_path):
    head, helper = hosts
    (tmp_path / "ber.toml").write_text(TOML)
    on(head, *dask("scheduler", "--host", HEAD, "--port", "8786"))
    first = helper_on(on, helper)
    environment = {**os.environ, "DASK_SCHEDULER_ADDRESS": f"tcp://{HEAD}:8786"}
    words = [sys.executable, "-m", "tidemill.sweep.command", "ber.toml", "--engine", "dask", "--json", "--workers", "1"]

    def start():
        return on(head, *words, "--resume", stdout=subprocess.PIPE, env=environment)

    sweep = _sweep_once_there_is_a_helper(start, tmp_path)
    first.send_signal(signal.SIGKILL)
    helper_on(on, helper)
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
