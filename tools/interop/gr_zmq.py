#!/usr/bin/env python3
"""Receives what GNU Radio's ZMQ PUSH Sink and ZMQ PUB Sink send, with and without tags.

usage: gr_zmq.py PROGRAM; prints a line for each
A PUSH sink waits for its receiver, and every packet must come; of a PUB sink those that come must be some that were
sent, in order, for its receiver joins late. Exit status 0, or 1 when it is not so, 77 when GNU Radio is not there."""
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    from gnuradio import blocks, gr, zeromq
except ImportError as error:
    print(f"skipped: GNU Radio with gr-zeromq is not here ({error}); on Debian: apt-get install gnuradio")
    sys.exit(77)

PACKET_BYTES, RATE_HZ = 188, 400e3


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


def send(kind, tags, samples, port):
    sink = {"push": zeromq.push_sink, "pub": zeromq.pub_sink}[kind]
    top = gr.top_block()
    top.connect(blocks.file_source(gr.sizeof_gr_complex, samples, False),
                blocks.throttle(gr.sizeof_gr_complex, RATE_HZ),
                sink(gr.sizeof_gr_complex, 1, f"tcp://127.0.0.1:{port}", 100, tags, -1))
    top.run()
    time.sleep(1)  # what has left the flow graph is still on its way


def packets_of(data):
    return [data[at:at + PACKET_BYTES] for at in range(0, len(data), PACKET_BYTES)]


def is_right(kind, got, sent):
    if kind == "push":
        return got == sent
    places = [sent.index(packet) if packet in sent else -1 for packet in got]
    return len(got) > len(sent) // 2 and min(places) >= 0 and places == sorted(places)


def try_it(program, kind, tags, folder, sent):
    port, out = free_port(), folder / "out.ts"
    receiver = subprocess.Popen([program, "dvbs2", "rx", f"zmq://127.0.0.1:{port}?type={'pull' if kind == 'push' else 'sub'}",
                                 "--format", "cf32", "--rate", str(RATE_HZ), "--symbol-rate", "100k", "-o", out],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    send(kind, tags, str(folder / "clean.cf32"), port)
    receiver.send_signal(signal.SIGINT)
    report = receiver.communicate(timeout=60)[0]
    got = packets_of(out.read_bytes())
    knows_nothing = "what the sender dropped is not known" in report
    good = is_right(kind, got, sent) and knows_nothing == (kind == "pub" and not tags)
    print(f"{kind}, tags {'passed' if tags else 'not passed'}: {len(got)} of {len(sent)} packets{'' if good else ', WRONG'}")
    return good


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([program, "dvbs2", "tx", "--random", "400", "-o", folder / "clean.cf32", "--frame", "short", "--modcod",
                        "QPSK 1/2", "--pilots", "--symbol-rate", "100k", "--samples-per-symbol", "4", "--packets-output",
                        folder / "sent.ts"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sent = packets_of((folder / "sent.ts").read_bytes())
        results = [try_it(program, kind, tags, folder, sent) for kind in ("push", "pub") for tags in (False, True)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
