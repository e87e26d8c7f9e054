"""Tasks in processes of their own: the same numbers in the same order, and an end that is told, whatever ends them."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from interpreter import lends_arrays
from test_endings import first_line, hear_ctrl_c

import tidemill as tm

PAIR = {"x": tm.In(np.float32, 8), "y": tm.Out(np.float32, 8)}


class Sum:
    """A state, which lives in the task's process."""

    def __init__(self, start):
        self.total = start

    def __call__(self, x, y):
        self.total += float(x[0])
        y.fill(self.total)
        return y


class Fails(Exception):
    def __init__(self, one, another):  # is not made again from one text
        super().__init__(f"{one} and {another}")


def tell_process(x, y):
    y.fill(os.getpid())


def double(x, y):
    np.multiply(x, 2, out=y)


def fail_at_three(x, y, frame):
    if frame == 3:
        raise ValueError("three is too much")


def fail_oddly(x, y):
    raise Fails("one", "another")


def die_at_three(x, y, frame):
    if frame == 3:
        os.kill(os.getpid(), signal.SIGKILL)


def resize(x, y):
    y.resize(5, refcheck=False)


def end_at_three(x, y, frame):
    if frame == 3:
        os._exit(7)


def keep(x, y, kept=[]):  # noqa: B006
    kept.append(x[2:])
    y[:] = kept[0][0]


def return_rubbish(x, y):
    return 5


def keep_even(x, y, frame):
    y[:] = x
    return tm.Flow.SKIP if frame % 2 else tm.Flow.OK


def give_three(y, frame):
    y.fill(frame)
    return tm.Flow.STOP if frame == 3 else tm.Flow.OK


def swallow(x):
    return "a sink's result is nobody's"


def scale(x, gain):
    np.multiply(x, gain, out=x)


def sum_up(x, y, seen=[]):  # noqa: B006
    if x.size == 0:
        y.fill(sum(seen))
        return tm.Flow.OK
    seen.append(float(x[0]))
    return tm.Flow.SKIP


def run(task, how="sequence", frames=10, source=None):
    got = []
    graph = tm.Graph()
    given = source or tm.source(lambda y, frame: y.fill(frame), y=tm.Out(np.float32, 8))
    graph.chain(given, task, tm.sink(lambda x: got.append(x.tolist())))
    cut = tm.Schedule.of((1, 1), (1, 2 if task.pure else 1), (1, 1))
    executors = {"sequence": tm.Sequence, "dynamic": lambda g: tm.Dynamic(g, workers=3),
                 "pipeline": lambda g: tm.Pipeline(g, cut)}  # fmt: skip
    executors[how](graph).run(frames=frames, finish=True)
    return got


def only_value(row):
    assert len(set(row)) == 1
    return row[0]


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_a_state_sees_every_frame_in_order(how):
    got = run(tm.task(Sum(100), process=True, **PAIR), how)
    assert [only_value(row) for row in got] == list(100 + np.cumsum(range(10)))


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_a_pure_task_gives_the_same_in_several_processes(how):
    got = run(tm.task(double, process=True, pure=True, **PAIR), how, frames=40)
    assert [only_value(row) for row in got] == [2 * frame for frame in range(40)]


@pytest.mark.parametrize("process", [False, True])
def test_functions_of_numpy_for_each_element_are_tasks(process):
    got = run(tm.task(np.square, process=process, **PAIR), frames=4)
    assert [only_value(row) for row in got] == [0, 1, 4, 9]


def test_it_is_another_process_which_ends_with_the_graph():
    other = int(run(tm.task(tell_process, process=True, **PAIR), frames=1)[0][0])
    assert other != os.getpid()
    gc.collect()
    for process in multiprocessing.active_children():
        process.join(60)
    assert other not in [process.pid for process in multiprocessing.active_children()]


def test_skipped_stopped_swallowed_and_last_frames_are_as_they_would_be_here():
    assert len(run(tm.task(keep_even, process=True, may_skip=True, **PAIR))) == 5
    source = tm.source(give_three, process=True, y=tm.Out(np.float32, 8))
    assert len(run(tm.task(double, **PAIR), source=source)) == 3
    assert run(tm.task(sum_up, process=True, may_skip=True, at_end=True, **PAIR)) == [[45.0] * 8]
    graph = tm.Graph()
    graph.chain(tm.source(range(3), y=tm.Out(np.int16, 4)), tm.sink(swallow, process=True))
    assert tm.Sequence(graph).run().frames == 3


def test_knobs_and_forwarded_arrays_get_there_and_back():
    got = []
    graph = tm.Graph()
    amp = tm.task(scale, process=True, x=tm.Forward(np.float32, (2, 3)), gain=tm.Knob(2))
    source = tm.source(lambda y: y.fill(1), y=tm.Out(np.float32, (2, 3)))
    _, amp, _ = graph.chain(source, amp, tm.sink(lambda x: got.append(x.tolist()), x=tm.In(np.float32, (2, 3))))
    sequence = tm.Sequence(graph)
    sequence.set(amp.gain, 5, at=1)
    sequence.run(frames=2)
    assert got == [[[2.0] * 3] * 2, [[5.0] * 3] * 2]


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_what_it_raises_comes_with_its_traceback(how):
    with pytest.raises(tm.FrameError, match="three is too much") as caught:
        run(tm.task(fail_at_three, process=True, **PAIR), how)
    assert caught.value.frame == 3 and isinstance(caught.value.__cause__, ValueError)
    assert "in fail_at_three" in caught.value.__cause__.__notes__[0]


def test_what_cannot_be_sent_is_told_all_the_same():
    with pytest.raises(tm.FrameError, match="Fails: one and another"):
        run(tm.task(fail_oddly, process=True, **PAIR))


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
@pytest.mark.parametrize("function, told", [(die_at_three, "ended by SIGKILL"), (end_at_three, "ended with status 7")])
def test_the_death_of_its_process_ends_the_run(how, function, told):
    with pytest.raises(tm.FrameError, match=told) as caught:
        run(tm.task(function, process=True, **PAIR), how)
    assert caught.value.frame == 3


@lends_arrays
@pytest.mark.parametrize("process", [False, True])
def test_kept_arrays_are_told_in_the_same_words_as_here(process):
    with pytest.raises(tm.FrameError, match=r"it kept the array of .*x beyond the call.*x\.copy\(\)"):
        run(tm.task(keep, process=process, **PAIR))


@pytest.mark.parametrize("process", [False, True])
def test_rubbish_is_told_in_the_same_words_as_here(process):
    with pytest.raises(tm.FrameError, match="it returned a int: return nothing"):
        run(tm.task(return_rubbish, process=process, **PAIR))


@pytest.mark.parametrize("process", [False, True])
def test_a_resized_array_is_told_in_the_same_words_as_here(process):
    with pytest.raises(tm.FrameError, match=r"it resized the array of .*y, which has a place of fixed size"):
        run(tm.task(resize, process=process, keep="copy", **PAIR))


def test_who_says_copy_may_keep_arrays():
    got = run(tm.task(keep, process=True, keep="copy", **PAIR))
    assert [only_value(row) for row in got] == [0] * 10


def test_what_no_process_can_have_is_refused():
    with pytest.raises(tm.GraphError, match="another process can import"):
        tm.Graph().add(tm.task(lambda x, y: None, process=True, **PAIR))
    with pytest.raises(tm.GraphError, match="iterates"):
        tm.source(range(3), process=True, y=tm.Out(np.int8))


SCRIPT = """
import os, sys, threading, time
import numpy as np
import tidemill as tm

def work(x, y):
    time.sleep({nap})
    np.add(x, 1, out=y)

def pipeline():
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: y.fill(1), y=tm.Out(np.float32, 4)),
                tm.task(work, process=True, x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4)),
                tm.sink(lambda x: None))
    return {executor}(graph)
"""


def start(folder, text, nap=0.0005, executor="tm.Sequence"):
    script = folder / "script.py"
    script.write_text(SCRIPT.format(nap=nap, executor=executor) + textwrap.dedent(text), encoding="utf-8")
    return subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True, preexec_fn=hear_ctrl_c)  # fmt: skip


def until_running(program):
    assert first_line(program) == "running\n", program.communicate()[1]


@pytest.mark.parametrize("executor", ["tm.Sequence", "tm.Dynamic"])
def test_ctrl_c_of_a_terminal_ends_the_run_which_can_go_on(tmp_path, executor):
    program = start(tmp_path, """
        if __name__ == "__main__":
            e = pipeline()
            e.run(frames=3)
            try:
                print("running", flush=True)
                e.run()
            except KeyboardInterrupt:
                print("interrupted", e.resume(frames=3).frames)
    """, executor=executor)  # fmt: skip
    until_running(program)
    os.killpg(program.pid, signal.SIGINT)  # also its children hear it
    out, err = program.communicate(timeout=60)
    assert (out, err, program.returncode) == ("interrupted 3\n", "", 0)


@pytest.mark.parametrize("nap", [0.0005, 3600])
def test_the_interpreter_may_end_while_a_stream_runs(tmp_path, nap):
    program = start(tmp_path, """
        if __name__ == "__main__":
            e = pipeline()
            threading.Thread(target=e.run, kwargs={"frames": 10**9}, daemon=True).start()
            print("running", flush=True)
    """, nap=nap)  # fmt: skip
    until_running(program)
    out, err = program.communicate(timeout=60)
    assert (out, err, program.returncode) == ("", "", 0)


def test_a_program_that_would_start_itself_again_is_told(tmp_path):
    program = start(tmp_path, """
        try:
            pipeline().run(frames=3)
        except tm.FrameError as error:
            print(error)
    """)  # fmt: skip
    out, _ = program.communicate(timeout=60)
    assert "if __name__ == '__main__'" in out
