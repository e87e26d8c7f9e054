#!/usr/bin/env python3
"""Compares gr-tidemill's blocks with the program: what the receiver's block gives of a recording must be what
`tidemill dvbs2 rx` gives, byte by byte; what the transmitter's block sends must be what `dvbs2 tx` sends; and what the block
for any graph gives of examples/stream_plugin must be what NumPy says.

usage: gr_block.py PROGRAM RECORDING [--stream POWER.so] [--repeat N]
Prints what was compared, and the processor time of each receiver.

RECORDING is SigMF with samples in ci8. The examples in .grc are compiled and run, too.
Exit status 0 when all agree, 1 when not, 77 when GNU Radio or the blocks are not there."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import gr_tidemill
    import pmt
    from gnuradio import blocks, gr
except ImportError as error:
    print(f"skipped: GNU Radio or its Tidemill blocks are not here ({error})")
    sys.exit(77)

MOST_DISTANCE = 1e-5  # of two samples of mean power 1
EXAMPLES = os.path.join(os.path.dirname(__file__), "../../gr-tidemill/examples")


class Lines(gr.sync_block):
    """Keeps the messages that it gets."""

    def __init__(self):
        gr.sync_block.__init__(self, "lines", None, None)
        self.kept = []
        self.message_port_register_in(pmt.intern("in"))
        self.set_msg_handler(pmt.intern("in"), self.keep)

    def keep(self, message):
        self.kept.append(message)


def processor_s(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def as_cf32(recording, path, times):
    """The samples, so many times one after the other, with full scale 1."""
    with open(recording, encoding="utf-8") as file:
        about = json.load(file)["global"]
    if about["core:datatype"] != "ci8":
        sys.exit(f"{recording} is {about['core:datatype']}; give one in ci8")
    samples = np.fromfile(recording.replace(".sigmf-meta", ".sigmf-data"), np.int8).astype(np.float32) / 128
    with open(path, "wb") as file:
        for _ in range(times):
            samples.tofile(file)
    return about["core:sample_rate"]


def by_program(program, path, rate, output):
    before = processor_s(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "dvbs2", "rx", path, "--sample-rate", str(rate), "--executor", "sequence", "-o", output],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return processor_s(resource.RUSAGE_CHILDREN) - before


def by_block(path, rate, output):
    top = gr.top_block()
    receiver = gr_tidemill.receiver(rate, symbols=True)
    status, symbols = Lines(), Lines()
    top.connect(blocks.file_source(gr.sizeof_gr_complex, path), receiver, blocks.file_sink(1, output))
    top.msg_connect(receiver, "status", status, "in")
    top.msg_connect(receiver, "symbols", symbols, "in")
    top.run()
    return status.kept, symbols.kept


def time_of_block(path, rate, output):
    """In a process of its own, less what importing GNU Radio takes. NumPy's library of matrices starts threads that spin for
    a tenth of a second, where it may."""
    text = ("import gr_tidemill, resource, sys\nfrom gnuradio import blocks, gr\n"
            "u = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])\nbefore = u()\ntop = gr.top_block()\n"
            "top.connect(blocks.file_source(8, sys.argv[1]), gr_tidemill.receiver(float(sys.argv[2])),"
            " blocks.file_sink(1, sys.argv[3]))\ntop.run()\nprint(u() - before)")
    done = subprocess.run([sys.executable, "-c", text, path, str(rate), output], check=True, capture_output=True,
                          env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    return float(done.stdout)


def by_example(folder, name, program, **options):
    """What grcc makes of the example, run with these options and without a display."""
    subprocess.run(["grcc", "-o", folder, os.path.join(EXAMPLES, name)], check=True, stdout=subprocess.DEVNULL)
    given = [word for option, value in options.items() for word in ("--" + option.replace("_", "-"), str(value))]
    subprocess.run([sys.executable, os.path.join(folder, program), *given], check=True, stdout=subprocess.DEVNULL,
                   env={name: value for name, value in os.environ.items() if name != "DISPLAY"})


def same(what, a, b):
    with open(a, "rb") as first, open(b, "rb") as second:
        one, other = first.read(), second.read()
    print(f"{what}: {len(one)} and {len(other)} bytes, {'equal' if one == other else 'DIFFERENT'}")
    return one == other and len(one) > 0


def nearly_same(what, a, b):
    """The program scales to a level, which rounds, as does the end of each piece that GNU Radio asks a block for."""
    one, other = np.fromfile(a, np.complex64), np.fromfile(b, np.complex64)
    most = np.abs(one - other).max() if len(one) == len(other) else np.inf
    print(f"{what}: {len(one)} and {len(other)} samples, at most {most:.1e} apart")
    return most < MOST_DISTANCE and len(one) > 0


def sent_by_block(packets, output):
    top = gr.top_block()
    top.connect(blocks.file_source(1, packets), gr_tidemill.transmitter(10, short_frames=True, pilots=True),
                blocks.file_sink(gr.sizeof_gr_complex, output))
    top.run()


def sent_by_program(program, packets, output):
    subprocess.run([program, "dvbs2", "tx", packets, "-o", output, "--modcod", "QPSK 8/9", "--frame", "short",
                    "--pilots", "--level", "0"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def powers_by_block(library, path, output, count):
    top = gr.top_block()
    top.connect(blocks.file_source(gr.sizeof_gr_complex, path), gr_tidemill.stream(library, str(count)),
                blocks.file_sink(gr.sizeof_float, output))
    top.run()
    return np.fromfile(output, np.float32)


def powers_agree(library, path, folder):
    """Of a number that fits into no buffer evenly; what fills no frame at the end is left out."""
    by_block, by_grc = (os.path.join(folder, name) for name in ("block.f32", "grc.f32"))
    count = 997
    samples = np.fromfile(path, np.complex64)
    whole = len(samples) // count * count
    expected = (np.abs(samples[:whole].astype(np.complex128)) ** 2).reshape(-1, count).mean(axis=1)
    given = powers_by_block(library, path, by_block, count)
    by_example(folder, "stream.grc", "tidemill_graph.py", recording=path, output=by_grc, library=library, text=count)
    good = same("powers by the block and by the example in .grc", by_block, by_grc)
    most = np.abs(given - expected).max() if len(given) == len(expected) else np.inf
    print(f"powers by the block for any graph: {len(given)} and {len(expected)}, at most {most:.1e} apart")
    try:
        gr_tidemill.stream(library, "many")
        print("a text that the graph does not like is taken: WRONG")
        return False
    except ValueError as error:
        print(f"refused: {error}")
    return good and most < MOST_DISTANCE


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("recording")
    arguments.add_argument("--stream", help="examples/stream_plugin, built")
    arguments.add_argument("--repeat", type=int, default=5, help="the recording's samples, so many times")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, by_rx, by_gr, by_grc = (os.path.join(folder, name) for name in ("samples.cf32", "rx.ts", "gr.ts", "grc.ts"))
        rate = as_cf32(asked.recording, path, asked.repeat)
        by_program(asked.program, path, rate, by_rx)
        status, symbols = by_block(path, rate, by_gr)
        good = same("received by rx and by the block", by_rx, by_gr)
        by_example(folder, "receive.grc", "tidemill_receive.py", recording=path, output=by_grc, sample_rate=rate)
        good &= same("received by rx and by the example in .grc", by_rx, by_grc)
        last = pmt.to_python(status[-1])
        print(f"status: {last['frames']} frames, {last['frames_bad']} bad, {last['modcod']}; symbols of {len(symbols)}")
        good &= len(symbols) == last["frames"] and last["frames_bad"] == 0

        ratios = []
        for _ in range(5):
            ours, theirs = time_of_block(path, rate, by_gr), by_program(asked.program, path, rate, by_rx)
            ratios.append(ours / theirs)
        print(f"processor time of the block over rx: {np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")

        sent, sent_too, sent_by_grc = (os.path.join(folder, name) for name in ("tx.cf32", "gr.cf32", "grc.cf32"))
        sent_by_program(asked.program, by_rx, sent)
        sent_by_block(by_rx, sent_too)
        good &= nearly_same("sent by tx and by the block", sent, sent_too)
        by_example(folder, "transmit.grc", "tidemill_transmit.py", video=by_rx, output=sent_by_grc)
        good &= nearly_same("sent by the block and by the example in .grc", sent_too, sent_by_grc)
        if asked.stream:
            good &= powers_agree(os.path.realpath(asked.stream), path, folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
