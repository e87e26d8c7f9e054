"""Whose stream it is: at the interpreter's end, after a fork, in spawned processes and subinterpreters; and what stays."""

import importlib.util
import multiprocessing

import numpy as np
import pytest
from test_endings import start

import tidemill as tm


def test_the_interpreter_may_end_while_receivers_run():
    program = start("""
        import itertools

        samples = np.random.default_rng(1).normal(size=(1 << 20, 2)).astype(np.float32).view(np.complex64).ravel()

        def receive():
            receiver = tm.dvbs2.Receiver(sample_rate_hz=2e6)
            for packets in receiver.receive(itertools.repeat(samples)):
                pass

        beside(receive)
        held = tm.dvbs2.Receiver(sample_rate_hz=2e6)
        held.push(samples[:50_000])
        waiting = tm.dvbs2.Receiver(sample_rate_hz=2e6)
        beside(waiting.take)
        time.sleep(0.3)
        print("running", flush=True)
    """)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, "")


def test_a_receiver_is_refused_after_a_fork_and_a_new_one_is_not():
    program = start("""
        receiver = tm.dvbs2.Receiver(sample_rate_hz=2e6)
        receiver.push(np.zeros(1000, np.complex64))
        print("running", flush=True)
        if os.fork() == 0:
            for work in (lambda: receiver.push(np.zeros(1000, np.complex64)), receiver.take, receiver.finish):
                try:
                    work()
                except tm.RunError as error:
                    print(error, flush=True)
            own = tm.dvbs2.Receiver(sample_rate_hz=2e6)
            own.push(np.zeros(1000, np.complex64))
            own.end()
            print(own.take().shape, executor(endless(0), "pipeline").run(frames=9).frames, flush=True)
            os._exit(0)
        print("child", os.waitstatus_to_exitcode(os.wait()[1]), receiver.finish().samples)
    """)
    out, err = program.communicate(timeout=60)
    assert out.count("the receiver was made before a fork") == 3, out + err
    assert out.endswith("(0, 188) 9\nchild 0 1000\n"), out + err


def sum_of_stream(frames):
    got = []
    graph = tm.Graph()
    graph.chain(tm.source(range(frames), y=tm.Out(np.int64)), tm.sink(lambda x: got.append(int(x[0]))))
    tm.Pipeline(graph, tm.Schedule.of((1, 1), (1, 1))).run()
    return sum(got)


def test_processes_that_are_spawned_have_streams_of_their_own():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(sum_of_stream, [3, 4]) == [3, 6]


def test_a_subinterpreter_is_refused_with_a_sentence():
    modules = [name for name in ("_interpreters", "_xxsubinterpreters") if importlib.util.find_spec(name)]
    if not modules:
        pytest.skip("this Python gives no subinterpreters to Python")
    program = start(f"""
        import {modules[0]} as interpreters
        read, write = os.pipe()
        print("running", flush=True)
        interpreters.run_string(interpreters.create(), "\\n".join([
            "import os",
            "try:",
            "    import tidemill",
            "except ImportError as error:",
            f"    os.write({{write}}, str(error).encode())",
        ]))
        os.close(write)
        print(os.read(read, 10000).decode())
    """)
    out, err = program.communicate(timeout=60)
    assert "tidemill works in a process's main interpreter only" in out, out + err
    assert program.returncode == 0, err


def test_a_second_import_is_refused_with_a_sentence():
    program = start("""
        import sys
        print("running", flush=True)
        for name in [name for name in sys.modules if name.startswith("tidemill")]:
            del sys.modules[name]
        try:
            import tidemill
        except ImportError as error:
            print(error)
    """)
    out, err = program.communicate(timeout=60)
    assert "tidemill is imported already" in out, out + err
    assert program.returncode == 0, err


def test_streams_run_again_and_again_in_the_same_memory():
    program = start("""
        import gc
        from pathlib import Path

        def resident_kib():
            lines = Path("/proc/self/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])

        def once(how):
            executor(endless(0), how).run(frames=50)
            graph = tm.Graph()
            graph.chain(tm.source(range(9), y=tm.Out(np.float32, 4096)), tm.sink(lambda x: 1 // int(x[0] - 4)))
            try:
                tm.Sequence(graph).run()
            except tm.FrameError:
                pass
            receiver = tm.dvbs2.Receiver(sample_rate_hz=2e6)
            receiver.push(np.zeros(20_000, np.complex64))
            receiver.finish()

        print("running", flush=True)
        for turn in range(4):
            for _ in range(40):
                for how in ("sequence", "pipeline", "dynamic"):
                    once(how)
            gc.collect()
            print(resident_kib())
    """)
    out, err = program.communicate(timeout=600)
    assert program.returncode == 0, err
    seen = [int(word) for word in out.split()]
    assert seen[-1] - seen[1] < 4096, seen  # of 240 rounds: one frame's memory that is left of each is more
