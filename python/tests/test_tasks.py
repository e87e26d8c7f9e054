"""Tasks in Python: what they see, what they may do, and what becomes of their mistakes."""

import gc
import threading
import time
import traceback

import numpy as np
import pytest
from interpreter import lends_arrays

import tidemill as tm

F4 = tm.In(np.float32, 4)


def executors(graph, tasks):
    """The same graph under every executor; `tasks` is how many there are."""
    cut = tm.Schedule.of(*[(1, 1)] * tasks)
    return {"sequence": lambda: tm.Sequence(graph), "pipeline": lambda: tm.Pipeline(graph, cut),
            "dynamic": lambda: tm.Dynamic(graph, workers=2)}  # fmt: skip


def counting(frames=20, sink=None, task=None, **words):
    """source -> task -> sink; what the sink got comes in a list."""
    got = []
    graph = tm.Graph()
    task = task or tm.task(lambda x, y: np.multiply(x, 2, out=y), x=F4, y=tm.Out(np.float32, 4), name="double")
    graph.chain(tm.source(range(frames), y=tm.Out(np.float32, 4)), task,
                tm.sink(sink or (lambda x: got.append(float(x[0])))))  # fmt: skip
    return graph, got


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_every_executor_gives_the_same(how):
    graph, got = counting(frames=200)
    run = executors(graph, 3)[how]().run()
    assert run.frames == 200
    assert got == [2.0 * k for k in range(200)]


@lends_arrays
def test_inputs_are_read_only_and_lie_where_the_output_was_written():
    places = []

    def fill(y):
        places.append(y.__array_interface__["data"][0])

    def read(x):
        assert not x.flags.writeable
        with pytest.raises(ValueError):
            x[0] = 1
        with pytest.raises(ValueError):
            x.flags.writeable = True
        assert x.__array_interface__["data"] == (places[-1], True)

    graph = tm.Graph()
    graph.chain(tm.source(fill, y=tm.Out(np.float32, 4)), tm.sink(read))
    tm.Sequence(graph).run(frames=5)
    assert len(set(places)) == 1


@lends_arrays
def test_arrays_are_made_once_per_place():
    seen = []
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: y.fill(1), y=tm.Out(np.float32, 4)), tm.sink(lambda x: seen.append(id(x))))
    tm.Sequence(graph).run(frames=1000)
    assert len(set(seen)) == 1


def test_shapes_and_types_are_as_declared():
    seen = []
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: y.fill(3), y=tm.Out(np.complex64, (8, 16))),
                tm.sink(lambda x: seen.append((x.shape, x.dtype, x.flags.c_contiguous, x.ctypes.data % 64))))  # fmt: skip
    tm.Sequence(graph).run(frames=1)
    assert seen == [((8, 16), np.dtype(np.complex64), True, 0)]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                   "float32", "float64", "complex64", "complex128"])  # fmt: skip
def test_every_type_goes_through(dtype):
    got = []
    graph = tm.Graph()
    graph.chain(tm.source(np.arange(5), y=tm.Out(dtype, 1)), tm.sink(lambda x: got.append(x[0].item())))
    tm.Sequence(graph).run()
    assert got == list(range(5))


def test_the_frame_number_comes_as_frame():
    got = []
    graph = tm.Graph()

    def numbered(y, frame):
        got.append(frame)

    graph.chain(tm.source(numbered, y=tm.Out(np.int8)), tm.task(lambda x: None, x=tm.In(np.int8)))
    executor = tm.Sequence(graph)
    executor.run(frames=3)
    executor.resume(frames=2)
    assert got == [0, 1, 2, 3, 4]


def test_a_generator_is_a_task_with_a_state():
    def running_sum():
        total = 0.0
        while True:
            x, y = yield
            total += float(x[0])
            y[0] = total

    graph, got = counting(5, task=tm.task(running_sum, x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4)))
    tm.Sequence(graph).run()
    assert got == [0, 1, 3, 6, 10]


def test_a_generator_that_returns_ends_the_stream():
    def two():
        for _ in range(2):
            x, y = yield
            y[:] = x

    graph, got = counting(50, task=tm.task(two, x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4)))
    assert tm.Sequence(graph).run().frames <= 3
    assert got in ([0.0], [0.0, 1.0])


def test_an_object_is_a_task_with_a_state():
    class Last:
        def __init__(self):
            self.value = -1.0

        def __call__(self, x, y):
            y[0] = self.value
            self.value = float(x[0])

    graph, got = counting(4, task=tm.task(Last(), x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4)))
    tm.Sequence(graph).run()
    assert got == [-1, 0, 1, 2]


def test_several_outputs_take_tuples_of_an_iterator():
    got = []
    graph = tm.Graph()
    graph.chain(tm.source([(1, [2, 3]), (4, [5, 6])], a=tm.Out(np.int32), b=tm.Out(np.float64, 2)),
                tm.sink(lambda a, b: got.append((int(a[0]), b.tolist()))))  # fmt: skip
    tm.Sequence(graph).run()
    assert got == [(1, [2, 3]), (4, [5, 6])]


def test_a_task_may_skip_and_stop():
    def odd(x, y):
        y[:] = x
        if x[0] >= 7:
            return tm.Flow.STOP
        return tm.Flow.OK if x[0] % 2 else tm.Flow.SKIP

    graph, got = counting(50, task=tm.task(odd, x=F4, y=tm.Out(np.float32, 4), may_skip=True))
    tm.Sequence(graph).run()
    assert got == [1, 3, 5]


def test_a_skip_that_was_not_promised_is_told():
    graph, _ = counting(task=tm.task(lambda x, y: tm.Flow.SKIP, x=F4, y=tm.Out(np.float32, 4), name="gate"))
    with pytest.raises(tm.FrameError, match="gate.*may_skip"):
        tm.Sequence(graph).run()


@pytest.mark.parametrize("how", ["sequence", "pipeline", "dynamic"])
def test_what_a_task_raises_is_the_cause_with_its_traceback(how):
    def fail_at_three(x, y):
        y[:] = x
        if x[0] == 3:
            raise ValueError("three is too much")

    graph, got = counting(task=tm.task(fail_at_three, x=F4, y=tm.Out(np.float32, 4)))
    with pytest.raises(tm.FrameError, match="fail_at_three.*frame 3: ValueError: three is too much") as told:
        executors(graph, 3)[how]().run()
    assert (told.value.task, told.value.frame) == ("fail_at_three.fail_at_three", 3)
    assert isinstance(told.value.__cause__, ValueError)
    assert "x[0] == 3" in "".join(traceback.format_exception(told.value)) or "fail_at_three" in "".join(
        traceback.format_exception(told.value))  # fmt: skip
    assert got == [0, 1, 2]


def test_an_array_in_a_traceback_outlives_its_run():
    def fail(x, y):
        raise ValueError

    graph, _ = counting(task=tm.task(fail, x=F4, y=tm.Out(np.float32, 4)))
    with pytest.raises(tm.FrameError) as told:
        tm.Sequence(graph).run()
    frame = told.value.__cause__.__traceback__.tb_frame
    x = frame.f_locals["x"]
    del graph, told, frame
    gc.collect()
    for _ in range(10):  # would reuse memory that was freed
        graph, _ = counting(frames=3)
        tm.Sequence(graph).run()
    assert x.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("rubbish", [1, "ok", [1.0], np.zeros(4)])
def test_rubbish_that_a_task_returns_is_told(rubbish):
    graph, _ = counting(task=tm.task(lambda x, y: rubbish, x=F4, y=tm.Out(np.float32, 4)))
    with pytest.raises(tm.FrameError, match="returned a .*: return nothing"):
        tm.Sequence(graph).run()


@lends_arrays
@pytest.mark.parametrize("part", [lambda x: x, lambda x: x[1:], lambda x: memoryview(x), lambda x: x.T])
def test_a_kept_array_ends_the_run_with_task_and_socket(part):
    kept = []

    def keeper(x, y):
        kept.append(part(x))

    graph, _ = counting(task=tm.task(keeper, x=F4, y=tm.Out(np.float32, 4)))
    with pytest.raises(tm.FrameError, match=r"keeper.*kept the array of keeper\.x.*x\.copy\(\)"):
        tm.Sequence(graph).run()
    del graph
    assert np.asarray(kept[0])[0] == 0  # its memory is there as long as the array is


@lends_arrays
def test_a_generator_that_keeps_more_than_its_variables_is_told():
    kept = []

    def keeper():
        while True:
            x, y = yield
            kept.append(x)

    graph, _ = counting(task=tm.task(keeper, x=F4, y=tm.Out(np.float32, 4)))
    with pytest.raises(tm.FrameError, match="kept the array"):
        tm.Sequence(graph).run()


def test_a_generator_may_name_its_arrays_as_a_tuple():
    def copy():
        while True:
            arrays = yield
            arrays[1][:] = arrays[0]

    graph, got = counting(5, task=tm.task(copy, x=F4, y=tm.Out(np.float32, 4)))
    tm.Sequence(graph).run()
    assert got == [0, 1, 2, 3, 4]


def test_a_cycle_that_holds_an_array_is_no_fault():
    def cyclic(x, y):
        cycle = [x]
        cycle.append(cycle)
        y[:] = x

    graph, got = counting(5, task=tm.task(cyclic, x=F4, y=tm.Out(np.float32, 4)))
    tm.Sequence(graph).run()
    assert len(got) == 5


def check(x, scale):
    half = x[:2]
    return half / scale[7]


def keep_errors(x, y, kept=[]):  # noqa: B006
    try:
        check(x, y)
    except IndexError as error:
        kept.append(error)
    y[:] = x


@lends_arrays
@pytest.mark.parametrize("process", [False, True])
@pytest.mark.parametrize("how", ["sequence", "pipeline"])
def test_an_exception_that_is_kept_is_no_fault_although_its_traceback_has_arrays(how, process):
    graph, got = counting(5, task=tm.task(keep_errors, x=F4, y=tm.Out(np.float32, 4), process=process))
    executor = tm.Sequence(graph) if how == "sequence" else tm.Pipeline(graph, tm.Schedule.of((1, 1), (1, 1), (1, 1)))
    executor.run()
    assert got == [0, 1, 2, 3, 4]


@lends_arrays
def test_what_is_kept_beside_a_traceback_is_told():
    kept = []

    def keeper(x, y):
        try:
            check(x, y)
        except IndexError as error:
            kept.append((error, x))

    graph, _ = counting(task=tm.task(keeper, x=F4, y=tm.Out(np.float32, 4)))
    with pytest.raises(tm.FrameError, match="kept the array"):
        tm.Sequence(graph).run()


@lends_arrays
def test_a_generator_may_name_a_part_of_its_array():
    def first_half():
        while True:
            x, y = yield
            half = x[:2]
            y[:2] = half

    graph, got = counting(5, task=tm.task(first_half, x=F4, y=tm.Out(np.float32, 4)))
    tm.Sequence(graph).run()
    assert got == [0, 1, 2, 3, 4]


def test_keep_copy_gives_arrays_that_may_be_kept():
    kept = []
    graph = tm.Graph()
    graph.chain(tm.source(range(5), y=tm.Out(np.float32, 4)),
                tm.task(lambda x, y: (kept.append((x, y)), y.fill(x[0] + 1))[1], x=F4, y=tm.Out(np.float32, 4),
                        keep="copy"),
                tm.sink(lambda x: kept.append(float(x[0]))))  # fmt: skip
    tm.Sequence(graph).run()
    assert [float(pair[0][0]) for pair in kept[::2]] == [0, 1, 2, 3, 4]
    assert kept[1::2] == [1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore:Setting the shape")  # NumPy 2.5 would rather not have it
@lends_arrays
def test_a_view_whose_shape_or_type_was_changed_is_replaced():
    shapes = []

    def reshape(x, y):
        shapes.append((x.shape, x.dtype))
        y[:] = x
        x.shape = (2, 2)
        y.flags.writeable = False

    graph, got = counting(4, task=tm.task(reshape, x=F4, y=tm.Out(np.float32, 4)))
    tm.Sequence(graph).run()
    assert set(shapes) == {((4,), np.dtype(np.float32))}
    assert got == [0, 1, 2, 3]


def test_a_pure_task_runs_on_several_threads():
    threads = set()

    def slow(x, y):
        threads.add(threading.get_ident())
        time.sleep(0.002)
        y[:] = x

    graph, got = counting(40, task=tm.task(slow, x=F4, y=tm.Out(np.float32, 4), pure=True))
    tm.Pipeline(graph, tm.Schedule.of((1, 1), (1, 3), (1, 1))).run()
    assert got == list(range(40))
    assert len(threads) == 3


def test_a_sequential_task_is_not_given_several_threads():
    graph, _ = counting()
    with pytest.raises(tm.GraphError, match="source.source is sequential"):
        tm.Pipeline(graph, tm.Schedule.of((3, 2)))


def test_constants_and_forwards():
    got = []
    graph = tm.Graph()
    source = graph.add(tm.source(range(3), y=tm.Out(np.float64, 2)))
    scale = graph.add(tm.task(lambda data, gain: np.multiply(data, gain, out=data), data=tm.Forward(np.float64, 2),
                              gain=tm.In(np.float64, 2)))  # fmt: skip
    sink = graph.add(tm.sink(lambda x: got.append(x.tolist()), x=tm.In(np.float64, 2)))
    graph.bind(source.y, scale.data)
    graph.bind(np.array([10.0, 100.0]), scale.gain)
    graph.bind(scale.data, sink.x)
    tm.Sequence(graph).run()
    assert got == [[0, 0], [10, 100], [20, 200]]


def test_streams_fire_as_often_as_counts_demand():
    got = []
    graph = tm.Graph()
    source = graph.add(tm.source([[1, 2, 3, 4], [5, 6, 7, 8]], y=tm.Out(np.int32, 4)))
    sink = graph.add(tm.sink(lambda x: got.append(x.tolist()), x=tm.In(np.int32, 2)))
    graph.stream(source.y, sink.x)
    tm.Sequence(graph).run()
    assert got == [[1, 2], [3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tm.task(lambda x: None), "has no sockets"),
        (lambda: tm.task(lambda x, y, z: None, x=F4, y=F4, name="three"), r"takes 3 arrays \(x, y, z\) and has 2"),
        (lambda: tm.task(5, x=F4), "cannot be called"),
        (lambda: tm.task(lambda x: None, x=np.float32), "give In, Out, Forward, Label or Knob"),
        (lambda: tm.task(lambda x: None, x=F4, keep="view"), "keep="),
        (lambda: tm.In(np.dtype(">f4"), 4), "byte order"),
        (lambda: tm.In(np.float32, 0), "1 or more"),
        (lambda: tm.In(np.float32, 2.5), "whole number"),
        (lambda: tm.In(np.float32, (2**40, 2**40)), "fewer than"),
        (lambda: tm.Graph().add(tm.task(lambda x: None, x=tm.In(object))), "cannot carry elements of type object"),
        (lambda: tm.Graph().add(tm.task(lambda x: None, x=tm.In("S8"))), "cannot carry"),
        (lambda: tm.Graph().add(tm.source(range(3))), "no sockets"),
        (lambda: tm.Graph().chain(tm.source(range(3)), tm.sink(print)), "which has none"),
        (lambda: tm.Graph().chain(tm.source(range(3), y=tm.Out(np.int8)),
                                  tm.task(lambda x: None, x=tm.In(np.float32))), "types differ"),
        (lambda: tm.Graph().chain(tm.source(range(3), y=tm.Out(np.int8, 2)),
                                  tm.task(lambda x: None, x=tm.In(np.int8))), "counts differ"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_while_the_graph_is_built(make, sentence):
    with pytest.raises(tm.GraphError, match=sentence):
        make()


@pytest.mark.parametrize("wishes", [{"frames": -1}, {"seconds": -1}, {"seconds": float("nan")}])
def test_ends_that_cannot_be_are_told(wishes):
    with pytest.raises(tm.RunError, match=next(iter(wishes))):
        tm.Sequence(counting()[0]).run(**wishes)


def test_policies_and_workers_that_cannot_be_are_told():
    with pytest.raises(tm.PolicyError, match="wishful"):
        tm.Dynamic(counting()[0], policy="wishful")
    with pytest.raises(tm.Error, match="worker"):
        tm.Dynamic(counting()[0], workers=0)


def test_a_trace_that_cannot_be_written_is_told_before_anything_runs(tmp_path):
    graph, got = counting()
    with pytest.raises(tm.JobFailed, match="no/such/trace.json"):
        tm.Sequence(graph).run(trace=tmp_path / "no/such/trace.json")
    assert got == []


@pytest.mark.parametrize("elements", [1, 5, 100_000])
def test_an_array_of_its_own_that_a_task_resized_is_told_and_nothing_is_overwritten(elements):
    def resize(x, y):
        y.resize(elements, refcheck=False)

    task = tm.task(resize, x=F4, y=tm.Out(np.float32, 4), keep="copy")
    graph, got = counting(task=task)
    with pytest.raises(tm.FrameError, match=r"resized the array of resize\.y"):
        tm.Sequence(graph).run()
    assert got == []


def test_an_item_that_does_not_fit_is_told():
    graph = tm.Graph()
    graph.chain(tm.source([[1, 2, 3]], y=tm.Out(np.float32, 2)), tm.sink(lambda x: None))
    with pytest.raises(tm.FrameError, match="broadcast"):
        tm.Sequence(graph).run()


def test_a_graph_that_is_not_complete_is_told_with_all_its_faults():
    graph = tm.Graph()
    graph.add(tm.task(lambda x, y: None, x=F4, y=F4, name="lonely"))
    with pytest.raises(tm.GraphError, match="lonely.x"):
        tm.Sequence(graph)


def test_a_run_in_a_task_of_the_same_graph_is_refused():
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: tm.Sequence(graph).run(frames=1) and None, y=tm.Out(np.int8)), tm.sink(print))
    with pytest.raises(tm.FrameError, match="is being run"):
        tm.Sequence(graph).run(frames=1)


def test_a_second_run_of_a_running_graph_is_refused_and_does_it_no_harm():
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: time.sleep(0.0005), y=tm.Out(np.float32, 4)), tm.sink(lambda x: x.sum()))
    first, second = tm.Sequence(graph), tm.Sequence(graph)
    results = []
    thread = threading.Thread(target=lambda: results.append(first.run(frames=400).frames))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            second.resume(frames=0)
        except tm.GraphError as error:
            assert "is being run" in str(error)
            refused += 1
    assert results == [400] and refused > 0


def test_a_run_inside_a_task_of_another_graph_is_fine():
    inner, got = counting(3)
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: tm.Sequence(inner).run() and None, y=tm.Out(np.int8)),
                tm.sink(lambda x: None))  # fmt: skip
    tm.Sequence(graph).run(frames=1)
    assert got == [0, 2, 4]


def test_runs_in_many_threads_at_once():
    results = {}

    def one(k):
        graph, got = counting(300)
        (tm.Sequence(graph) if k % 2 else tm.Dynamic(graph)).run()
        results[k] = got

    threads = [threading.Thread(target=one, args=(k,)) for k in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(results[k] == [2.0 * n for n in range(300)] for k in range(6))


def test_seconds_end_a_run():
    graph = tm.Graph()
    graph.chain(tm.source(lambda y: time.sleep(0.001), y=tm.Out(np.int8)), tm.sink(lambda x: None))
    assert tm.Sequence(graph).run(seconds=0.05).frames > 1
