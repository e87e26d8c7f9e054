"""Knobs, labels, the end of a stream, and runs that are waited for or stopped."""

import asyncio
import gc
import threading

import numpy as np
import pytest
from interpreter import lends_arrays

import tidemill as tm

OUT = tm.Out(np.float64)
IN = tm.In(np.float64)


def amplifier(got, frames=None):
    """Counts, times a gain that is turned from outside."""
    graph = tm.Graph()
    amp = tm.task(lambda x, y, gain: np.multiply(x, gain, out=y), x=IN, y=OUT, gain=tm.Knob(1, 0, 100), name="amp")
    items = range(frames) if frames is not None else iter(int, 1)
    _, amp, _ = graph.chain(tm.source(items, y=OUT), amp, tm.sink(lambda x: got.append(float(x[0]))))
    return graph, amp


@pytest.mark.parametrize("how", [tm.Sequence, tm.Dynamic, lambda graph: tm.Pipeline(graph, tm.Schedule.of((3, 1)))])
def test_a_knob_holds_from_the_frame_that_set_names(how):
    got = []
    graph, amp = amplifier(got, 10)
    run = how(graph)
    assert run.set(amp.gain, 10, at=4) == 4
    assert run.set(amp.gain, 100, at=8) == 8
    run.run()
    assert got == [0, 1, 2, 3, 40, 50, 60, 70, 800, 900]


def test_a_knob_is_turned_while_the_stream_runs():
    got = []
    graph, amp = amplifier(got)
    run = tm.Pipeline(graph, tm.Schedule.of((3, 1)))
    done = []
    thread = threading.Thread(target=lambda: done.append(run.run()))
    thread.start()
    while len(got) < 10:
        pass
    frame = run.set(amp.gain, 7)
    while len(got) < frame + 10:
        pass
    run.stop()
    thread.join()
    assert done[0].delivered == len(got)
    assert set(got) == {0.0}  # of zeros


def test_values_that_a_knob_cannot_take_are_told():
    graph, amp = amplifier([], 1)
    run = tm.Sequence(graph)
    with pytest.raises(tm.GraphError, match="101 is out of its range; give 0 to 100"):
        run.set(amp.gain, 101)
    with pytest.raises(tm.RunError, match="give a value behind each knob"):
        run.set(amp.gain, 1, amp.gain)
    with pytest.raises(tm.RunError, match="is no knob"):
        run.set("gain", 1)
    with pytest.raises(tm.GraphError):
        run.set(amp.x, 1)


def test_knobs_stand_behind_the_arrays_and_before_the_frame():
    seen = []
    graph = tm.Graph()
    task = tm.task(lambda x, a, b, frame: seen.append((float(x[0]), a, b, frame)) or None, x=IN, a=tm.Knob(2), b=tm.Knob(3))
    graph.chain(tm.source(range(2), y=OUT), task)
    tm.Sequence(graph).run()
    assert seen == [(0, 2, 3, 0), (1, 2, 3, 1)]
    with pytest.raises(tm.GraphError, match="behind the arrays it gets its knobs, a"):
        tm.task(lambda a, x: None, x=IN, a=tm.Knob(1))

    def state():
        yield

    with pytest.raises(tm.GraphError, match="which only functions get"):
        tm.task(state, x=IN, a=tm.Knob(1))


@pytest.mark.parametrize("stages", [1, 3])
def test_a_label_goes_along_over_tasks_that_know_nothing_of_it(stages):
    seen = []

    def radio(y, time):
        y[:] = np.arange(4)
        time[0] = 0.5 * next(frames)

    frames = iter(range(100))
    graph = tm.Graph()
    source = graph.add(tm.source(radio, y=tm.Out(np.float32, 4), time=tm.Label(np.float64)))
    even = graph.add(
        tm.task(
            lambda x, y, frame: np.copyto(y, x) if frame % 2 == 0 else tm.Flow.SKIP,
            x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4), may_skip=True, name="even",
        )
    )  # fmt: skip
    sink = graph.add(
        tm.sink(lambda x, when: seen.append(float(when[0])), x=tm.In(np.float32, 4),
                when=tm.Label(np.float64, reads=True, name="time"))
    )  # fmt: skip
    graph.bind(source.y, even.x)
    graph.bind(even.y, sink.x)
    cut = tm.Schedule.of((3, 1)) if stages == 1 else tm.Schedule.of((1, 1), (1, 1), (1, 1))
    tm.Pipeline(graph, cut).run(frames=6)
    assert seen == [0, 1, 2]


def test_a_label_that_nobody_gives_is_told():
    graph = tm.Graph()
    graph.chain(tm.source(range(3), y=OUT), tm.sink(lambda x, t: None, x=IN, t=tm.Label(np.float64, reads=True)))
    with pytest.raises(tm.GraphError, match="gives a label 't'"):
        tm.Sequence(graph)


@pytest.mark.parametrize("stages", [1, 3])
def test_a_task_is_told_of_the_end_and_gives_what_it_still_has(stages):
    held, got = [], []

    def gather(x, y):
        if len(x) > 0:
            held.append(float(x[0]))
        if len(x) > 0 and len(held) < 4 or not held:
            return tm.Flow.SKIP
        y[:] = sum(held)
        held.clear()
        return None

    def keep(x):
        got.append(float(x[0]) if len(x) else "end")

    graph = tm.Graph()
    graph.chain(tm.source(range(10), y=OUT), tm.task(gather, x=IN, y=OUT, may_skip=True, at_end=True), tm.sink(keep, at_end=True))
    cut = tm.Schedule.of((3, 1)) if stages == 1 else tm.Schedule.of((1, 1), (1, 1), (1, 1))
    tm.Pipeline(graph, cut).run()
    assert got == [6, 22, 17, "end"]


def test_a_run_is_awaited_while_others_go_on():
    got = []
    graph, _ = amplifier(got, 1000)

    async def both():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        run = await tm.Sequence(graph).run_async()
        ticking.cancel()
        return run, ticks

    run, ticks = asyncio.run(both())
    assert run.delivered == 1000
    assert ticks > 0


def test_a_run_that_is_cancelled_has_ended():
    got = []
    graph, _ = amplifier(got)
    pipeline = tm.Pipeline(graph, tm.Schedule.of((3, 1)))

    async def short():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pipeline.run_async(), 0.05)
        return len(got)

    count = asyncio.run(short())
    assert count == len(got) > 0


def test_stop_without_a_run_is_nothing():
    graph, _ = amplifier([], 3)
    run = tm.Sequence(graph)
    run.stop()
    assert run.run().delivered == 3


@lends_arrays
def test_a_constant_that_was_kept_outlives_its_graph():
    kept = []
    look = tm.sink(lambda x, c: kept.append(c), x=IN, c=tm.In(np.int64, 1000))
    graph = tm.Graph()
    source, sink = graph.add(tm.source(range(2), y=OUT)), graph.add(look)
    graph.bind(source.y, sink.x)
    graph.bind(np.arange(1000), sink.c)
    with pytest.raises(tm.FrameError, match="kept the array of"):
        tm.Sequence(graph).run()
    del graph, source, sink
    gc.collect()
    others = [np.full(1000, -1) for _ in range(200)]
    assert (kept[0] == np.arange(1000)).all()
    assert len(others) == 200
