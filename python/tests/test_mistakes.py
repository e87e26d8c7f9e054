"""What people do wrong, and what they are told: no crash, no wrong number, no sentence about what lies beneath."""

import copy
import pickle
import threading

import numpy as np
import pytest

import tidemill as tm

F4 = tm.In(np.float32, 4)


def chain(*between, source=range(5), sink=lambda x: None):
    graph = tm.Graph()
    graph.chain(tm.source(source, y=tm.Out(np.float32, 4)), *between, tm.sink(sink))
    return graph


def test_modules_of_another_graph_are_refused():
    graph, other = tm.Graph("mine"), tm.Graph("other")
    source = graph.add(tm.source(range(3), y=tm.Out(np.float32, 4)))
    sinks = [other.add(tm.sink(lambda x: None, x=F4)) for _ in range(3)]
    with pytest.raises(tm.GraphError, match="is of graph 'other', not of 'mine'"):
        graph.chain(source, sinks[2])


def test_knobs_of_another_graph_are_refused():
    other = tm.Graph("other")
    turned = [other.add(tm.source(lambda y, k: None, y=tm.Out(np.int8), k=tm.Knob(1))) for _ in range(5)]
    with pytest.raises(tm.GraphError, match="socket 'k' is of graph 'other'"):
        tm.Sequence(chain()).set(turned[4].k, 1)


def test_constants_of_another_byte_order_or_stride_are_the_same_numbers():
    got = []
    graph = tm.Graph()
    sink = graph.add(tm.sink(lambda x, a, b: got.append((a.tolist(), b.tolist())), x=F4, a=F4, b=F4))
    graph.chain(graph.add(tm.source(range(1), y=tm.Out(np.float32, 4))), tm.task(lambda x: None, x=F4))
    graph.bind(np.arange(4, dtype=np.float32), sink.x)
    graph.bind(np.arange(4).astype(">f4"), sink.a)
    graph.bind(np.arange(8, dtype=np.float32)[::-2], sink.b)
    tm.Sequence(graph).run(frames=1)
    assert got == [([0, 1, 2, 3], [7, 5, 3, 1])]


async def asynchronous(x):
    pass


async def asynchronous_items():
    yield 1


def never_yields():
    return
    yield


class Asynchronous:
    async def __call__(self, x):
        pass


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tm.sink(asynchronous, x=F4), "asynchronous"),
        (lambda: tm.sink(Asynchronous(), x=F4), "asynchronous"),
        (lambda: tm.source(asynchronous_items, y=tm.Out(np.int8)), "asynchronous"),
        (lambda: tm.task(never_yields, x=F4), "never yields"),
        (lambda: tm.In(np.float32, (1,) * 65), "65 directions"),
        (lambda: tm.Knob(1, least=float("nan")), "least=nan"),
    ],
)  # fmt: skip
def test_tasks_that_cannot_be_are_told_where_they_are_declared(make, sentence):
    with pytest.raises(tm.GraphError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tm.Graph(3), "name=3: give a text"),
        (lambda: tm.Graph().add(3), "give what task"),
        (lambda: tm.Graph().chain(range(3), print), "give a module, or what task"),
        (lambda: tm.Pipeline(chain(), "schedule.json"), r"give a tidemill\.Schedule; Schedule\.read"),
        (lambda: tm.Sequence(None), r"graph=None: give a tidemill\.Graph"),
        (lambda: tm.Sequence(chain()).run(frames=10.0), "frames=10.0: give a whole number"),
        (lambda: tm.Sequence(chain()).run(seconds="1"), "seconds='1': give a number"),
        (lambda: tm.Sequence(chain()).run(trace=3), "trace=3: give the name of a file"),
        (lambda: tm.schedule("profile.json"), r"give a tidemill\.Profile; Profile\.read"),
        (lambda: tm.profile(None), r"give a tidemill\.Graph"),
        (lambda: tm.dvbs2.ber(13, ebn0=3), "modcod=13: give a text"),
        (lambda: tm.dvbs2.ber("QPSK 1/2", ebn0="three"), "ebn0='three': give numbers in dB"),
        (lambda: tm.dvbs2.receive(np.zeros(5)), "recording=.*: give the name of a file"),
    ],
)  # fmt: skip
def test_what_is_of_the_wrong_type_is_told_by_its_name(make, sentence):
    with pytest.raises(TypeError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tm.Pipeline(chain(), tm.Schedule.of((2, 1)), ring_depth=2**62), "ring_depth=.*at most"),
        (lambda: tm.Pipeline(chain(), tm.Schedule.of((2, 1)), batch=-1), "batch=-1: give 1 or more"),
        (lambda: tm.Dynamic(chain(), workers=10**6), "workers=1000000: give at most"),
        (lambda: tm.Schedule.of(1, 2), r"stage 1: give \(tasks, threads\)"),
        (lambda: tm.dvbs2.ber("QPSK 1/2", ebn0=3, sync="ful"), "sync='ful': give ideal or full"),
        (lambda: tm.dvbs2.ber([], ebn0=3), "modcod: give one or more"),
        (lambda: tm.dvbs2.ber("QPSK 1/2", ebn0=3, seed=2**70), "seed=.*at most"),
        (lambda: tm.dvbs2.Receiver(symbol_rate_hz=-1), "symbol_rate_hz=-1"),
        (lambda: tm.dvbs2.Receiver().push(["a"]), "samples of <U1: give complex numbers"),
        (lambda: tm.dvbs2.Receiver().take(-1), "most=-1: give 1 or more"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_told_by_their_names(make, sentence):
    with pytest.raises(tm.Error, match=sentence):
        make()


def test_a_module_in_place_of_its_socket_is_told_with_the_sockets():
    graph = tm.Graph()
    source = graph.add(tm.source(range(3), name="numbers", y=tm.Out(np.float32, 4)))
    sink = graph.add(tm.sink(lambda x: None, name="end", x=F4))
    with pytest.raises(tm.GraphError, match="module 'end': give one of its sockets, end.x"):
        graph.bind(source.y, sink)
    with pytest.raises(tm.GraphError, match="module 'numbers': give one of its sockets, numbers.y"):
        graph.bind(source, sink.x)


def test_a_sink_may_stop_the_stream():
    got = []

    def until_two(x):
        got.append(float(x[0]))
        return tm.Flow.STOP if x[0] == 2 else None

    run = tm.Sequence(chain(sink=until_two)).run()
    assert got == [0, 1, 2] and run.delivered == 2


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_profiles_schedules_and_reports_go_to_other_processes(again, published_profile, demo):
    profile = tm.Profile.read(published_profile)
    schedule = tm.schedule(profile, cores={"big": 2, "little": 2})
    assert again(profile) == profile
    assert again(schedule) == schedule and again(schedule).period_us == schedule.period_us
    again(schedule).plot()  # it knows its profile
    front = again(tm.front(profile, watts={"big": 1, "little": 0.25}))
    assert len(front) == len(front.schedules) > 1
    samples = again(tm.read_samples(demo, count=10))
    assert len(samples) == 10


def test_a_report_goes_to_another_process_with_its_recording(demo):
    report = tm.dvbs2.receive(demo)
    again = pickle.loads(pickle.dumps(report))
    assert again.frames == report.frames and np.array_equal(again.packets, report.packets)
    again.plot.spectrum(samples=5000, bins=64)


def in_threads(count, job):
    threads = [threading.Thread(target=job) for _ in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_several_threads_may_push_and_send():
    receiver = tm.dvbs2.Receiver(sample_rate_hz=2e6)
    block = np.zeros(300_000, np.complex64)
    in_threads(4, lambda: [receiver.push(block) for _ in range(5)])
    assert receiver.finish().samples == 4 * 5 * len(block)

    transmitter, lengths = tm.dvbs2.Transmitter(frame="short"), []
    packets = np.full(188 * 50, 0x47, np.uint8)
    in_threads(4, lambda: [lengths.append(len(transmitter.send(packets))) for _ in range(10)])
    alone = tm.dvbs2.Transmitter(frame="short")
    assert sum(lengths) == sum(len(alone.send(packets)) for _ in range(40))


def test_an_array_whose_byte_order_was_changed_is_replaced():
    orders = []

    def swap(x, y):
        orders.append((x.dtype.str, y.dtype.str))
        y[:] = x
        x.dtype = y.dtype = x.dtype.newbyteorder()

    got = []
    task = tm.task(swap, x=F4, y=tm.Out(np.float32, 4))
    tm.Sequence(chain(task, sink=lambda x: got.append(float(x[0])))).run()
    native = np.dtype(np.float32).str
    assert orders == [(native, native)] * 5
    assert got == [0, 1, 2, 3, 4]


def test_a_graph_is_not_changed_while_it_runs():
    def grow(x):
        graph.add(tm.source([1], y=tm.Out(np.int8)))

    graph = chain(sink=grow)
    for executor in (tm.Sequence(graph), tm.Pipeline(graph, tm.Schedule.of((1, 1), (1, 1)))):
        with pytest.raises(tm.FrameError, match="is being run: change it before, or when the run has ended"):
            executor.run()
    assert len(graph.units) == 2


@pytest.mark.parametrize("text", ["\ud800 half", "", "\0"])
def test_a_task_may_raise_any_text(text):
    def fail(x):
        raise ValueError(text)

    with pytest.raises(tm.FrameError, match="failed at frame 0: ValueError") as told:
        tm.Sequence(chain(sink=fail)).run()
    assert told.value.__cause__.args == (text,)


def test_what_memory_there_is_not_is_told():
    with pytest.raises(MemoryError, match="not that much memory: ask for less"):
        tm.Pipeline(chain(source=range(1)), tm.Schedule.of((1, 1), (1, 1)), batch=2**20, ring_depth=2**20).run()
