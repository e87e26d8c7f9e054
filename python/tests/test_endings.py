"""Ctrl-C, the interpreter's end, and forks: each in a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

COMMON = """
import json, os, sys, threading, time
import numpy as np
import tidemill as tm

def endless(step=0.0005):
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: time.sleep(step), y=tm.Out(np.float32, 4)),
                tm.task(lambda x, y: np.add(x, 1, out=y), x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4)),
                tm.sink(lambda x: None))
    return graph

def beside(work):
    threading.Thread(target=work, daemon=True).start()

def executor(graph, how):
    cut = tm.Schedule.of((1, 1), (1, 1), (1, 1))
    return {"sequence": tm.Sequence, "dynamic": tm.Dynamic, "pipeline": lambda g: tm.Pipeline(g, cut)}[how](graph)
"""


def hear_ctrl_c():
    """Who runs the tests in the background may have it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def first_line(program):
    """No byte more: communicate() would not find what was read ahead."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(program.stdout.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode()


def start(text):
    program = subprocess.Popen([sys.executable, "-c", COMMON + textwrap.dedent(text)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)  # fmt: skip
    assert first_line(program) == "running\n", program.communicate()[1]
    return program


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_ctrl_c_ends_a_run(how):
    program = start(f"""
        e = executor(endless(), "{how}")
        print("running", flush=True)
        try:
            e.run()
        except KeyboardInterrupt:
            print("interrupted", e.resume(frames=3).frames)
    """)
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=20)
    assert (out, program.returncode) == ("interrupted 3\n", 0), err


def test_ctrl_c_ends_error_counting():
    program = start("""
        print("running", flush=True)
        try:
            tm.dvbs2.ber("QPSK 1/4", ebn0=8, frames=10**9, errors=10**9)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=30)
    assert (out, program.returncode) == ("interrupted\n", 0), err


@pytest.mark.parametrize(
    "work",
    [
        'tm.reproduce("table1", chains=10**9)',
        'tm.reproduce("fig7", timed=10**5)',
        'tm.reproduce("table3", frames=10**7)',
        'tm.reproduce("fig4.3", tasks=10**8)',
        'tm.reproduce("sbridge.fig4")',
        'tm.simulate_tasks("channelvocoder", iterations=10**6)',
        'tm.simulate_tasks("channelvocoder", iterations=10**6, policy=lambda task: task.number)',
        "tm.profile(endless(), seconds=10**4)",
        "tm.schedule(long, cores=cores, strategy='2catac')",
        "tm.front(long, cores=cores, watts={'big': 1, 'little': 0.25})",
        "tm.simulate(tm.Schedule.of((3000, 1)), long, frames=10**8)",
    ],
)
def test_ctrl_c_ends_what_is_simulated_or_profiled_or_searched(work):
    program = start(f"""
        tasks = [{{"name": str(k), "replicable": k % 7 > 0, "weight": {{"big": 10 + k * k % 1301, "little": 20 + k * k % 1709}}}}
                 for k in range(3000)]
        long = tm.Profile.from_json(json.dumps({{"tasks": tasks}}))
        cores = {{"big": 200, "little": 200}}
        try:
            print("running", flush=True)
            {work}
        except KeyboardInterrupt:
            print("interrupted")
    """)
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert (out, program.returncode) == ("interrupted\n", 0), err


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_the_interpreter_may_end_while_a_stream_runs(how):
    program = start(f"""
        e = executor(endless(), "{how}")
        beside(e.run)
        time.sleep(0.2)
        print("running", flush=True)
    """)
    out, err = program.communicate(timeout=20)
    assert (program.returncode, err) == (0, "")


def test_the_interpreter_may_end_while_tasks_are_simulated():
    program = start("""
        beside(lambda: tm.simulate_tasks("channelvocoder", iterations=10**6, policy=lambda task: task.number))
        time.sleep(0.5)
        print("running", flush=True)
    """)
    _, err = program.communicate(timeout=20)
    assert program.returncode == 0, err  # the thread may tell that it was interrupted


def test_a_task_that_never_comes_back_holds_up_the_end_for_some_seconds_only():
    program = start("""
        def stuck(y):
            while True:
                pass

        graph = tm.Graph()
        graph.chain(tm.source(stuck, y=tm.Out(np.int8)), tm.sink(lambda x: None))
        beside(tm.Sequence(graph).run)
        time.sleep(0.1)
        print("running", flush=True)
    """)
    out, err = program.communicate(timeout=30)
    assert (program.returncode, err) == (0, "")


def test_the_interpreter_may_end_with_executors_left():
    program = start("""
        kept = [executor(endless(0), how) for how in ("sequence", "pipeline", "dynamic")]
        for each in kept:
            each.run(frames=100)
        print("running", flush=True)
    """)
    out, err = program.communicate(timeout=20)
    assert (program.returncode, err) == (0, "")


def test_an_executor_is_refused_after_a_fork():
    program = start("""
        e = executor(endless(0), "pipeline")
        e.run(frames=10)
        print("running", flush=True)
        if os.fork() == 0:
            try:
                e.run(frames=10)
            except tm.RunError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
    """)
    out, _ = program.communicate(timeout=20)
    assert "before a fork" in out


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
@pytest.mark.parametrize("last", ["return", "raise ValueError('in the child')", "sys.exit()", "os._exit(7)"])
def test_a_child_that_a_task_has_forked_does_not_come_back(how, last):
    program = start(f"""
        def forking(y, frame):
            if frame != 2:
                return
            child = os.fork()
            if child == 0:
                {last}
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

        print("running", flush=True)
        graph = tm.Graph()
        graph.chain(tm.source(forking, name="forking", y=tm.Out(np.int8)),
                    tm.task(lambda x, y: None, x=tm.In(np.int8), y=tm.Out(np.int8)), tm.sink(lambda x: None))
        print(executor(graph, "{how}").run(frames=5).frames)
    """)
    out, err = program.communicate(timeout=60)
    ends_itself = last == "os._exit(7)"
    assert (out, program.returncode) == ("7\n5\n" if ends_itself else "1\n5\n", 0), err
    assert ("RunError: task forking has forked, and its child came back" in err) != ends_itself
    assert ("ValueError: in the child" in err) == ("ValueError" in last)


def test_ctrl_c_while_a_program_is_still_being_loaded_ends_it_without_a_word():
    loading = "load = importlib.import_module; importlib.import_module = lambda name: (os.kill(os.getpid(), 2), load(name))[1]"
    code = f"import importlib, os; from tidemill_program import verbs; {loading}; verbs.sweep()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-2, b"", b"")


@pytest.mark.parametrize("how", ["pipeline", "dynamic"])
def test_a_second_ctrl_c_ends_a_task_that_does_not_come_back(how):
    program = start(f"""
        def stuck(y):
            print("running", flush=True)
            while True:
                time.sleep(0.01)

        graph = tm.Graph()
        graph.chain(tm.source(stuck, y=tm.Out(np.int8)), tm.task(lambda x, y: None, x=tm.In(np.int8), y=tm.Out(np.int8)),
                    tm.sink(lambda x: None))
        try:
            executor(graph, "{how}").run()
        except KeyboardInterrupt:
            print("interrupted")
    """)
    for _ in range(2):
        time.sleep(0.5)
        program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert (out, program.returncode) == ("interrupted\n", 0), err
