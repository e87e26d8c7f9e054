"""Processes of this machine as an executor: what is submitted is answered, whatever becomes of one of them."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from tidemill.sweep.processes import Processes


def test_calls_of_many_threads_are_each_answered():
    with Processes(3) as helpers:
        futures = {}

        def submit(first):
            for k in range(first, first + 50):
                futures[k] = helpers.submit(pow, k, 2)

        threads = [threading.Thread(target=submit, args=(50 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {k: future.result() for k, future in futures.items()} == {k: k * k for k in range(200)}
        assert len(multiprocessing.active_children()) == 3


def test_what_is_thrown_there_is_thrown_here():
    with Processes(1) as helpers:
        with pytest.raises(ValueError, match="invalid literal"):
            helpers.submit(int, "x").result()
        with pytest.raises(TypeError, match="cannot pickle"):
            helpers.submit(threading.Lock).result()
        assert helpers.submit(int, "7").result() == 7


def test_a_process_that_dies_takes_no_call_of_another_with_it():
    with Processes(2) as helpers:
        other, dying = helpers.submit(time.sleep, 0.3), helpers.submit(os._exit, 1)
        with pytest.raises(BrokenProcessPool):
            dying.result()
        assert other.result() is None
        assert [helpers.submit(pow, 2, k).result() for k in range(8)] == [2**k for k in range(8)]


def test_a_call_that_is_cancelled_tells_nobody_and_the_next_is_answered():
    with Processes(1) as helpers:
        first, *_, cancelled = (helpers.submit(time.sleep, 0.1) for _ in range(4))
        assert cancelled.cancel() and helpers.submit(pow, 2, 4).result() == 16 and first.done()


def test_killing_all_ends_all_calls_and_nothing_is_taken_after_the_end():
    helpers = Processes(2)
    futures = [helpers.submit(time.sleep, 60) for _ in range(4)]
    helpers.kill()
    for future in futures:
        with pytest.raises(BrokenProcessPool):
            future.result(timeout=20)
    helpers.shutdown()
    with pytest.raises(RuntimeError, match="have been ended"):
        helpers.submit(pow, 2, 3)


def test_ctrl_c_of_the_terminal_is_the_callers_business():
    with Processes(1) as helpers:
        helpers.submit(pow, 2, 3).result()
        sleeping = helpers.submit(time.sleep, 0.3)
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGINT)
        assert sleeping.result() is None


def test_ctrl_c_while_the_first_process_begins_is_the_callers_business():
    code = """
import os, signal, time
from tidemill.sweep.processes import Processes
signal.signal(signal.SIGINT, lambda *_: print("interrupted"))
with Processes(1) as helpers:
    found = helpers.submit(pow, 2, 3)
    while not found.done():
        os.killpg(0, signal.SIGINT)
        time.sleep(0.001)
    print(found.result())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, start_new_session=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.fullmatch("(interrupted\n)+8\n", ended.stdout)


def test_more_calls_than_fit_into_the_connection_are_all_answered():
    with Processes(1) as helpers:
        text = "x" * 10_000
        futures = [helpers.submit(str.upper, text) for _ in range(300)]
        assert all(future.result() == text.upper() for future in futures)


def test_arrays_of_any_size_come_whole_there_and_back():
    with Processes(2) as helpers:
        arrays = [np.arange(size, dtype=np.int64) for size in (0, 1, 10_000, 700_000)]
        futures = [helpers.submit(np.negative, array) for array in arrays for _ in range(5)]
        assert all(np.array_equal(future.result(), -arrays[k // 5]) for k, future in enumerate(futures))
