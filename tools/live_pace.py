#!/usr/bin/env python3
"""Hands samples to a receiver through a pipe, as a radio would: each when its time has come.

usage: live_pace.py PROGRAM [SECONDS [SYMBOL_RATE...]]

Packets leave by UDP on loopback. For each symbol rate (0.25, 1 and 8 MBd) it says in how many seconds that many
seconds of samples were taken, how many of the writes were done in 50 ms, and what was lost. Exit status 1 where 0.1 s or
one write in a thousand is missed. Timings mean something on a quiet machine only.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

PIECE_S = 0.01
RECORDED_S = 2  # played again and again: at each seam the lock is lost
LATE_S = 0.05


def make_recording(program, folder, symbol_rate):
    packets, clean, noisy = (os.path.join(folder, name) for name in ("in.ts", "clean.ci8", "noisy.ci8"))
    count = int(RECORDED_S * symbol_rate * 4 / 3 / 8 / 188)
    with open(packets, "wb") as file:
        for n in range(count):
            file.write(bytes([0x47, 0x01, 0x00, 0x10 | n & 15]) + n.to_bytes(4, "big") * 46)
    for call in (["tx", packets, "-o", clean, "--modcod", "QPSK 2/3", "--frame", "short", "--pilots", "--symbol-rate",
                  str(symbol_rate)],
                 ["channel", clean, "-o", noisy, "--rate", str(2 * symbol_rate), "--cfo", str(0.01 * symbol_rate),
                  "--symbol-rate", str(symbol_rate), "--esn0", "10"]):
        subprocess.run([program, "dvbs2", *call], check=True, capture_output=True)
    return open(noisy, "rb").read()


class Player:
    """Takes packets by UDP and counts them."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(1)
        self.place = f"udp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.packets = 0
        self.ended = False
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while not self.ended:
            try:
                self.packets += len(self.socket.recv(65536)) // 188
            except TimeoutError:
                pass


def hand_over(recording, samples_per_s, seconds, pipe):
    """Seconds until the last sample was taken, and those that each write took."""
    piece = int(samples_per_s * PIECE_S) * 2
    endless = recording + recording[:piece]
    writes, at = [], 0
    begun = time.monotonic()
    for n in range(round(seconds / PIECE_S)):
        ahead = begun + (n + 1) * PIECE_S - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
        before = time.monotonic()
        view = memoryview(endless)[at:at + piece]
        while len(view) > 0:
            view = view[os.write(pipe, view):]
        writes.append(time.monotonic() - before)
        at = (at + piece) % len(recording)
    return time.monotonic() - begun, writes


def measure(program, folder, symbol_rate, seconds):
    recording = make_recording(program, folder, symbol_rate)
    player = Player()
    rx = subprocess.Popen([program, "dvbs2", "rx", "-", "--format", "ci8", "--rate", str(2 * symbol_rate), "--symbol-rate",
                           str(symbol_rate), "-o", player.place, "--json"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took, writes = hand_over(recording, 2 * symbol_rate, seconds, rx.stdin.fileno())
    out, err = rx.communicate(timeout=60)
    player.ended = True
    assert rx.returncode == 0, err.decode()
    report = json.loads(out)
    in_time = sum(write < LATE_S for write in writes) / len(writes)
    met = abs(took - seconds) <= 0.1 and in_time >= 0.999
    print(f"{symbol_rate / 1e6:g} MBd: {seconds} s handed over in {took:.2f} s; {100 * in_time:.2f} % of {len(writes)} writes "
          f"within 50 ms, the longest {1e3 * max(writes):.0f} ms; {report['ts_packets']} packets sent, {player.packets} taken; "
          f"{'met' if met else 'MISSED'}", flush=True)
    return met


def main():
    program = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    rates = [int(float(word)) for word in sys.argv[3:]] or [250_000, 1_000_000, 8_000_000]
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(program, folder, rate, seconds) for rate in rates]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
