"""On an interpreter without a lock: it stays off, and what is shared is safe. Skipped where there is one."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from interpreter import HAS_LOCK

import tidemill as tm

pytestmark = pytest.mark.skipif(HAS_LOCK, reason="this interpreter has a lock")
X = tm.In(np.float64, 256)
Y = tm.Out(np.float64, 256)


def side_by_side(work, threads=4):
    """Calls work(number) on so many threads at the same time."""
    begun, failed = threading.Barrier(threads), []

    def call(number):
        begun.wait()
        try:
            work(number)
        except BaseException as error:
            failed.append(error)
            raise

    running = [threading.Thread(target=call, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed


def test_importing_turns_no_lock_on():
    told = subprocess.run([sys.executable, "-c", "import sys, tidemill; print(sys._is_gil_enabled())"], check=True,
                          capture_output=True, text=True)  # fmt: skip
    assert (told.stdout, told.stderr) == ("False\n", "")


@pytest.mark.parametrize("how", [tm.Sequence, tm.Dynamic])
def test_arrays_are_copies_which_may_be_kept(how):
    kept = []
    graph = tm.Graph()
    graph.chain(tm.source(range(20), y=Y), tm.task(lambda x, y: np.copyto(y, x), x=X, y=Y), tm.sink(kept.append))
    how(graph).run()
    assert [array[0] for array in kept] == list(range(20))
    assert all(array.flags.owndata for array in kept)


def test_a_generator_keeps_copies_too():
    kept = []

    def keeper():
        while True:
            x, y = yield
            kept.append(x)
            y[:] = x

    graph = tm.Graph()
    graph.chain(tm.source(range(20), y=Y), tm.task(keeper, x=X, y=Y), tm.sink(lambda x: None))
    tm.Sequence(graph).run()
    assert [array[-1] for array in kept] == list(range(20))


def nothing_but_keep(x, y, kept=[]):  # noqa: B006
    kept.append(x)
    y[:] = kept[0]


def test_arrays_are_copies_in_a_process_of_its_own_too():
    got = []
    graph = tm.Graph()
    graph.chain(tm.source(range(5), y=Y), tm.task(nothing_but_keep, process=True, x=X, y=Y), tm.sink(got.append))
    tm.Sequence(graph).run()
    assert [array[0] for array in got] == [0] * 5


def test_a_pure_task_is_called_by_several_threads_at_once_and_frames_keep_their_order():
    together, got = threading.Barrier(2, timeout=60), []

    def meet(x, y, frame):
        if frame < 2:
            together.wait()  # comes back only where two calls are under way
        np.square(x, out=y)

    graph = tm.Graph()
    graph.chain(tm.source(range(500), y=Y), tm.task(meet, pure=True, x=X, y=Y), tm.sink(lambda x: got.append(x[0])))
    tm.Pipeline(graph, tm.Schedule.of((1, 1), (1, 2), (1, 1))).run()
    assert got == [float(n * n) for n in range(500)]


def test_graphs_run_side_by_side():
    sums = [0.0] * 4

    def run(n):
        graph = tm.Graph()
        graph.chain(tm.source(range(300), y=Y), tm.task(lambda x, y: np.multiply(x, n, out=y), x=X, y=Y),
                    tm.sink(lambda x: sums.__setitem__(n, sums[n] + x[0])))  # fmt: skip
        tm.Pipeline(graph, tm.Schedule.of((2, 1), (1, 1))).run()

    side_by_side(run)
    assert sums == [n * sum(range(300)) for n in range(4)]


def test_one_graph_is_built_by_many_threads():
    graph = tm.Graph()

    def build(n):
        for k in range(200):
            source = graph.add(tm.source(range(3), y=Y, name=f"source {n} {k}"))
            sink = graph.add(tm.sink(lambda x: None, x=X, name=f"sink {n} {k}"))
            graph.bind(source.y, sink.x)
            assert (source.name, sink.name) == (f"source {n} {k}", f"sink {n} {k}")

    side_by_side(build)
    assert tm.Sequence(graph).run().frames == 3


def test_of_many_runs_of_one_graph_one_goes_on_and_the_others_are_refused():
    graph = tm.Graph()
    graph.chain(tm.source(range(2000), y=Y), tm.sink(lambda x: None))
    executors, ran = [tm.Sequence(graph) for _ in range(4)], []

    def run(n):
        for _ in range(50):
            try:
                ran.append(executors[n].run(frames=5).frames)
            except tm.GraphError as error:
                assert "is being run" in str(error)

    side_by_side(run)
    assert ran and set(ran) == {5}


def test_a_receiver_is_asked_while_it_is_fed(demo):
    samples, got = tm.read_samples(demo, count=10**8), []
    receiver = tm.dvbs2.Receiver(sample_rate_hz=samples.sample_rate_hz)

    def work(n):
        if n == 0:
            got.extend(packets.tobytes() for packets in receiver.receive(np.array_split(samples.array, 50)))
        else:
            while not got:
                assert receiver.now["frames"] >= 0
                time.sleep(0.001)  # it is asked, not starved

    side_by_side(work)
    assert b"".join(got) == tm.dvbs2.receive(demo, executor="sequence").packets.tobytes()
