"""Calls public functions with arguments that cannot be, for test_hostile_arguments.py: `hostile_calls.py SEED CALLS`."""

import faulthandler
import re
import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tidemill as tm
from tidemill import figures

DATA = Path(__file__).resolve().parents[2] / "data"
DEMO = DATA / "demo.sigmf-meta"
PROFILE = tm.Profile.read(DATA / "profiles" / "dvbs2-rx-opi5.json")
SCHEDULE = tm.schedule(PROFILE, cores={"big": 2, "little": 2})
SIGNAL = tm.dvbs2.Transmitter("QPSK 8/9", frame="short").finish()
MEMORY_BYTES = 3 << 30  # for what a call asks for beyond what was there
PATIENCE_S = 5  # after that a call, which may have been asked for much, is ended as Ctrl-C would end it
LONGEST_S = 90  # for that, on a busy machine
RIDDLE = re.compile(r"std::|_ZN|incompatible function arguments|has no attribute '_|basic_string|vector::|nanobind")


def graph():
    made = tm.Graph()
    made.chain(tm.source(range(3), y=tm.Out(np.float32, 4)),
               tm.task(lambda x, y: None, x=tm.In(np.float32, 4), y=tm.Out(np.float32, 4), pure=True),
               tm.sink(lambda x: None))  # fmt: skip
    return made


def bind_of(first, second):
    made = tm.Graph()
    source = made.add(tm.source(range(3), y=tm.Out(np.float32, 4)))
    sink = made.add(tm.sink(lambda x: None, x=tm.In(np.float32, 4)))
    made.bind({"output": source.y}.get(first, first), {"input": sink.x, "module": sink}.get(second, second))
    tm.Sequence(made).run()


def socket_of(dtype, shape):
    made = tm.Graph()
    made.chain(tm.source([0], y=tm.Out(dtype, shape)), tm.sink(lambda x: None))
    tm.Sequence(made).run()


def knob_of(initial, least, most, value, at):
    made = tm.Graph()
    source = tm.source(lambda y, k: None, y=tm.Out(np.float32), k=tm.Knob(initial, least=least, most=most))
    modules = made.chain(source, tm.sink(lambda x: None))
    executor = tm.Sequence(made)
    executor.set(modules[0].k, value, at=at)
    executor.run(frames=2)


def received(samples, most, **settings):
    receiver = tm.dvbs2.Receiver(**settings)
    receiver.push(samples)
    receiver.end()
    receiver.take(most)
    return receiver.finish()


def sent(packets, **settings):
    transmitter = tm.dvbs2.Transmitter(**settings)
    transmitter.send(packets)
    return transmitter.finish()


def stages(*each):
    return tm.Pipeline(graph(), tm.Schedule.of(*each)).run(frames=2)


# Each with arguments that are good; one or two of them are replaced.
FUNCTIONS = {
    "Graph": (tm.Graph, {"name": "g"}),
    "add": (lambda spec: tm.Graph().add(spec), {"spec": None}),
    "chain": (lambda a, b: tm.Graph().chain(a, b), {"a": tm.source([1]), "b": None}),
    "bind": (bind_of, {"first": "output", "second": "input"}),
    "socket": (socket_of, {"dtype": "f4", "shape": (2, 2)}),
    "label": (tm.Label, {"dtype": "f4", "reads": True, "name": "time"}),
    "knob": (knob_of, {"initial": 1, "least": 0, "most": 2, "value": 1, "at": 1}),
    "task": (tm.task, {"function": np.square, "x": tm.In("f4"), "y": tm.Out("f4"), "name": "t", "keep": None}),
    "source": (tm.source, {"function": range(3), "y": tm.Out("f4"), "name": "s", "may_wait": False}),
    "sink": (tm.sink, {"function": print, "x": tm.In("f4"), "name": "s", "at_end": False}),
    "to_svg": (lambda schedule: graph().to_svg(schedule), {"schedule": None}),
    "Sequence": (tm.Sequence, {"graph": graph()}),
    "Pipeline": (tm.Pipeline, {"graph": graph(), "schedule": tm.Schedule.of((1, 1), (1, 2), (1, 1)), "ring_depth": 1,
                               "batch": 1, "pinned": False}),
    "Dynamic": (tm.Dynamic, {"graph": graph(), "workers": 2, "policy": "gpriority"}),
    "run": (lambda **words: tm.Sequence(graph()).run(**words), {"frames": 2, "seconds": 1, "trace": None,
                                                               "statistics": True, "finish": False}),
    "resume": (lambda **words: tm.Pipeline(graph(), tm.Schedule.of((2, 1), (1, 1))).resume(**words),
               {"frames": 2, "seconds": 1}),
    "stages": (lambda tasks, threads, kind: stages((tasks, threads, kind), (2, 1)),
               {"tasks": 1, "threads": 1, "kind": "big"}),
    "stage": (lambda stage: stages(stage), {"stage": (3, 1)}),
    "Profile.read": (tm.Profile.read, {"path": DEMO}),
    "Profile.from_json": (tm.Profile.from_json, {"text": "{}"}),
    "Profile.write": (PROFILE.write, {"path": "profile.json"}),
    "Schedule.read": (tm.Schedule.read, {"path": DEMO}),
    "Schedule.from_json": (tm.Schedule.from_json, {"text": "{}"}),
    "Schedule.write": (SCHEDULE.write, {"path": "schedule.json"}),
    "describe": (SCHEDULE.describe, {"profile": PROFILE, "cores": {"big": 2, "little": 2}, "watts": None}),
    "profile": (tm.profile, {"graph": graph(), "seconds": 0.01, "frames": 2, "cores": None}),
    "schedule": (tm.schedule, {"profile": PROFILE, "cores": {"big": 2, "little": 2}, "objective": "power",
                               "watts": {"big": 1, "little": (0.25, 0.1)}, "strategy": "herad", "period_us": None,
                               "rate_hz": None, "free": None, "model": None}),
    "simulate": (tm.simulate, {"schedule": SCHEDULE, "profile": PROFILE, "frames": 50, "drawn_frames": 5, "seed": 1,
                               "hop_latency_us": 1, "jitter": 0.1, "watts": None, "model": None}),
    "front": (tm.front, {"profile": PROFILE, "watts": {"big": 1, "little": 0.25}, "cores": {"big": 2, "little": 2}}),
    "simulate_tasks": (tm.simulate_tasks, {"program": "fig4.6a", "policy": "oldest", "workers": 3, "iterations": 3,
                                           "window": 4, "noise": 0.1, "seed": 1, "drawn_iterations": 2}),
    "simulate_profile": (tm.simulate_tasks, {"program": PROFILE, "cores": {"big": 1}, "iterations": 3}),
    "slowdowns": (tm.slowdowns, {"big": 2, "little": 2, "chains": 1, "tasks": 5, "stateless": 0.5, "heaviest": 10,
                                 "slowest": 2, "seed": 1}),
    "reproduce": (tm.reproduce, {"name": "fig6", "chains": 10, "timed": 1, "frames": 100, "tasks": 10, "seed": 1}),
    "read_samples": (tm.read_samples, {"recording": DEMO, "first": 0, "count": 100, "format": None,
                                       "sample_rate_hz": None}),
    "receive": (tm.dvbs2.receive, {"recording": DATA / "README.md", "format": "ci8", "sample_rate_hz": 5e5,
                                   "constellation": 3, "output": "", "symbol_rate_hz": None, "offset_hz": None,
                                   "rolloff": 0.2, "gold_code": 0, "executor": "sequence", "schedule": None,
                                   "profile_s": 1}),
    "dvbs2.profile": (tm.dvbs2.profile, {"recording": DATA / "README.md", "seconds": 0.01, "format": "ci8",
                                         "sample_rate_hz": 5e5, "gold_code": 0}),
    "ber": (tm.dvbs2.ber, {"modcod": "QPSK 8/9", "frame": "short", "ebn0": 9, "errors": 1, "frames": 1, "seed": 1,
                           "iterations": 5, "sync": "ideal", "pilots": False, "threads": 1, "first_frame": 0,
                           "burst": 2, "target": ""}),
    "Receiver": (received, {"samples": SIGNAL, "most": 3, "sample_rate_hz": 2e6, "symbol_rate_hz": 1e6,
                            "rolloff": 0.2, "gold_code": 0, "threads": 1, "waiting_packets": 20}),
    "Transmitter": (sent, {"packets": np.full(188, 0x47, np.uint8), "modcod": "QPSK 1/2", "frame": "short",
                           "pilots": False, "rolloff": 0.2, "gold_code": 0, "samples_per_symbol": 2}),
    "spectrum": (figures.spectrum, {"samples": SIGNAL, "sample_rate_hz": 2e6, "bins": 16, "call": ""}),
    "eye": (figures.eye, {"samples": SIGNAL, "samples_per_symbol": 2, "rolloff": 0.2, "symbols": 20}),
    "trace": (figures.trace, {"path": DEMO, "first_frame": None, "frames": 3}),
}  # fmt: skip

HOSTILE = [
    None, True, -1, 0, 1, 2.5, 2**31, 2**32, 2**62, 2**63, 2**64, 10**30, -(2**63), 1e300, -0.0, 1e-300, float("nan"),
    float("inf"), -float("inf"), 1j, "", "big", "\0", "\ud800", "nonsense" * 50, b"bytes", b"\xff\0", (), [], {},
    {"big": -1}, {"big": "many"}, {"": 1}, {"big": float("nan")}, {"big": 2**70}, (1,), (2, -1), (1,) * 65, [1, "a"],
    [[1], [1, 2]], object(), print, range(3), iter([]), np.zeros(0), np.zeros(3), np.full(64, np.nan),
    np.arange(8, dtype=">f4")[::-2], np.zeros(4, "M8[s]"), np.zeros(3, object), np.zeros((2, 3), bool), np.float32(2),
    np.int64(-3), np.array(5), int, tm.Flow.STOP, tm.Graph(), graph(), SCHEDULE, PROFILE, tm.In("f4"), tm.Knob(1),
    tm.source([1]), lambda *a: None, "/", "/dev/null", "..",
]  # fmt: skip


class Ended(Exception):
    """By the alarm."""


def ring(*_):
    raise Ended("long enough")


@st.composite
def calls(draw):
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    function, good = FUNCTIONS[name]
    bad = draw(st.lists(st.sampled_from(sorted(good)), min_size=1, max_size=2, unique=True))
    return name, {each: draw(st.integers(0, len(HOSTILE) - 1)) for each in bad}


def is_riddle(error):
    told = str(error)
    return RIDDLE.search(told) or (not told and not isinstance(error, (MemoryError, StopIteration)))


def check(call):
    name, replaced = call
    function, good = FUNCTIONS[name]
    words = {**good, **{argument: HOSTILE[number] for argument, number in replaced.items()}}
    first = [words.pop("function")] if "function" in words else []
    faulthandler.dump_traceback_later(LONGEST_S, exit=True)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    print(name, {each: repr(words.get(each, first))[:80] for each in replaced}, file=sys.stderr, flush=True)
    try:
        function(*first, **words)
    except Exception as error:
        assert not is_riddle(error), f"{name} with {replaced}: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, ring)
    here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + MEMORY_BYTES, resource.RLIM_INFINITY))
    quiet = settings(deadline=None, max_examples=count, database=None, suppress_health_check=list(HealthCheck))
    seed(first)(quiet(given(calls())(check)))()
    print(f"{count} calls")


if __name__ == "__main__":
    main()
