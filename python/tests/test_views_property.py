"""Views and their lifetimes, for whatever shapes, types, executors and misdeeds come along."""

import gc

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interpreter import HAS_LOCK, lends_arrays

import tidemill as tm

DTYPES = st.sampled_from(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64",
                          "complex64", "complex128"])  # fmt: skip
SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)
QUIET = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cuts(draw, tasks, pure):
    """A pipeline's stages; those without the first and the last task have several threads, if they may."""
    stages, left = [], tasks
    while left > 0:
        size = draw(st.integers(1, left))
        inner = pure and left < tasks and size < left
        stages.append((size, draw(st.integers(1, 3)) if inner else 1))
        left -= size
    return tm.Schedule.of(*stages)


@st.composite
def executors(draw, tasks, pure=False):
    how = draw(st.sampled_from(["sequence", "pipeline", "dynamic"]))
    if how == "sequence":
        return tm.Sequence
    if how == "dynamic":
        workers = draw(st.integers(1, 4))
        return lambda graph: tm.Dynamic(graph, workers=workers)
    cut, depth, batch = draw(cuts(tasks, pure)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return lambda graph: tm.Pipeline(graph, cut, ring_depth=depth, batch=batch)


@QUIET
@given(st.data(), DTYPES, SHAPES, st.integers(0, 12), st.booleans(), st.booleans())
def test_what_goes_in_comes_out_under_every_executor(data, dtype, shape, frames, copies, pure):
    keep = "copy" if copies else None
    copies |= not HAS_LOCK
    rng = np.random.default_rng(7)
    sent = [rng.integers(0, 100, size=shape).astype(dtype) for _ in range(frames)]
    got = []

    def pass_on(x, y):
        assert x.shape == y.shape == shape and x.dtype == y.dtype == np.dtype(dtype)
        assert y.flags.writeable and (copies or not x.flags.writeable)
        y[...] = x

    graph = tm.Graph()
    between = [tm.task(pass_on, x=tm.In(dtype, shape), y=tm.Out(dtype, shape), keep=keep, pure=pure)
               for _ in range(3)]  # fmt: skip
    graph.chain(tm.source(sent, y=tm.Out(dtype, shape)), *between, tm.sink(lambda x: got.append(x.copy())))
    run = data.draw(executors(5, pure))(graph).run()
    assert run.frames == frames
    assert len(got) == frames and all(np.array_equal(a, b) for a, b in zip(got, sent, strict=True))


DEEDS = {
    "nothing": lambda x: None,
    "a copy": lambda x: x.copy(),
    "a number": lambda x: x[0].item(),
    "itself": lambda x: x,
    "a part": lambda x: x[1:3],
    "backwards": lambda x: x[::-1],
    "other type": lambda x: x.view(np.uint8),
    "a buffer": lambda x: memoryview(x),
    "dlpack": lambda x: np.from_dlpack(x),
    "a closure": lambda x: lambda: x,
}
INNOCENT = ("nothing", "a copy", "a number")


@lends_arrays
@QUIET
@given(st.data(), st.lists(st.sampled_from(sorted(DEEDS)), max_size=8), st.booleans())
def test_the_first_array_kept_ends_the_run_at_its_frame_and_stays_readable(data, deeds, as_generator):
    kept, seen = [], []

    def take(x, number):
        seen.append(float(x[0]))
        kept.append(DEEDS[deeds[number]](x))

    def generator():
        number = 0
        while True:
            x = yield
            take(x, number)
            number += 1

    def function(x, frame):
        take(x, frame)

    graph = tm.Graph()
    graph.chain(tm.source(range(len(deeds)), y=tm.Out(np.float64, 5)),
                tm.task(generator if as_generator else function, name="taker", x=tm.In(np.float64, 5)))  # fmt: skip
    guilty = next((k for k, deed in enumerate(deeds) if deed not in INNOCENT), None)
    failed_at = None
    try:
        data.draw(executors(2))(graph).run()
    except tm.FrameError as error:
        assert "kept the array of taker.x" in str(error)
        failed_at = error.frame
    assert failed_at == guilty
    assert seen == [float(k) for k in range(len(deeds) if guilty is None else guilty + 1)]
    del graph
    gc.collect()
    if guilty is not None:
        last = kept[-1]() if callable(kept[-1]) else kept[-1]
        assert np.asarray(last).size > 0 and np.isfinite(np.asarray(last).astype(float)).all()
