"""What a task in Python costs, and a receiver that Python starts: ./x python bench. Each beside its baseline in the same
run, the two taken in turns; a figure is the median of the rounds, with the quartiles."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tidemill as tm
from tidemill.figures import Note

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 25
PROGRAMS = [ROOT / "build/release/bin/tidemill", ROOT / "build/python/bin/tidemill"]


def in_turns(rounds, *measures):
    """A list of results per measure."""
    results = [[measure() for measure in measures] for _ in range(rounds + 1)][1:]  # the first one warms up
    return list(zip(*results, strict=True))


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return {"median": middle, "from": low, "to": high}


def per_call_ns(run, calls):
    start = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - start) / calls


def task_overhead(rounds, frames, how):
    """A task of two sockets in a chain, over the same function called on the same kind of arrays in a loop.

    The chain with one Python task more, less the one without: what is left is a call.
    """
    add = np.add

    def work(x, y):
        add(x, x, out=y)

    x, y = np.zeros(256, np.float32), np.zeros(256, np.float32)

    def bare():
        for _ in range(frames):
            work(x, y)

    def chain(tasks):
        graph = tm.Graph()
        middle = [tm.task(work, x=tm.In(np.float32, 256), y=tm.Out(np.float32, 256)) for _ in range(tasks)]
        graph.chain(tm.source(lambda y: None, y=tm.Out(np.float32, 256)), *middle, tm.sink(lambda x: None))
        if how == "pipeline":
            return tm.Pipeline(graph, tm.Schedule.of((tasks + 2, 1)))
        return tm.Sequence(graph)

    few, many = chain(1), chain(9)
    took = in_turns(
        rounds,
        lambda: per_call_ns(bare, frames),
        lambda: per_call_ns(lambda: few.run(frames=frames, statistics=False), frames),
        lambda: per_call_ns(lambda: many.run(frames=frames, statistics=False), frames),
    )
    overheads = [(more - less) / 8 - alone for alone, less, more in zip(*took, strict=True)]
    return {"bare_ns": quartiles(took[0]), "overhead_ns": quartiles(overheads)}


def import_time(rounds):
    def seconds(modules):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)
        return 1e3 * (time.perf_counter() - start)

    took = in_turns(rounds, lambda: seconds("numpy"), lambda: seconds("numpy, tidemill"))
    return {"numpy_ms": quartiles(took[0]), "over_numpy_ms": quartiles([b - a for a, b in zip(*took, strict=True)])}


def receiver(rounds):
    """The receiver in order, from Python and by the program, by the rates that they report themselves.

    The demo recording is over in some hundredths of a second, so it comes several times in a row.
    """
    program = next((each for each in PROGRAMS if each.exists()), None)
    if program is None:
        return {"skipped": "build the program first: ./x build"}
    with tempfile.NamedTemporaryFile(suffix=".ci8") as recording:
        for _ in range(REPEATS):
            recording.write((ROOT / "data/demo.sigmf-data").read_bytes())
        recording.flush()

        def by_program():
            command = [program, "dvbs2", "rx", recording.name, "--sample-rate", "500e3", "--executor", "sequence"]
            out = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
            return json.loads(out)["info_mbps"]

        def by_python():
            return tm.dvbs2.receive(recording.name, sample_rate_hz=500e3, executor="sequence").info_mbps

        took = in_turns(rounds, by_program, by_python)
    ratios = [python / alone for alone, python in zip(*took, strict=True)]
    return {"program": str(program.relative_to(ROOT)), "program_mbps": quartiles(took[0]),
            "python_mbps": quartiles(took[1]), "ratio": quartiles(ratios)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--frames", type=int, default=20000)
    options = parser.parse_args()
    result = {
        "note": str(Note("./x python bench")),
        "task in order": task_overhead(options.rounds, options.frames, "sequence"),
        "task in a stage": task_overhead(options.rounds, options.frames, "pipeline"),
        "import": import_time(options.rounds),
        "receiver": receiver(options.rounds),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
