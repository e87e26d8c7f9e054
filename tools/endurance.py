#!/usr/bin/env python3
"""Runs a receiver through days of a carrier, as fast as it goes, and watches its memory.

usage: endurance.py PROGRAM [DAYS]

The carrier has 333 kBd, and loses its lock every half minute, when there is noise for a second. The default, 0.08 days, is
a little more than 2^32 samples. Exit status 1 where the program's memory, after the first tenth, grows by more than 1 MB.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

SYMBOL_RATE = 333_000
RECORDED_S, NOISE_S = 30, 1
LOOK_S = 2
MB = 1 << 20


def make_recording(program, folder):
    packets, clean, noisy = (os.path.join(folder, name) for name in ("in.ts", "clean.ci8", "noisy.ci8"))
    with open(packets, "wb") as file:
        for n in range(int(RECORDED_S * SYMBOL_RATE * 4 / 3 / 8 / 188)):
            file.write(bytes([0x47, 0x01, 0x00, 0x10 | n & 15]) + n.to_bytes(4, "big") * 46)
    for call in (["tx", packets, "-o", clean, "--modcod", "QPSK 2/3", "--frame", "short", "--pilots", "--symbol-rate",
                  str(SYMBOL_RATE)],
                 ["channel", clean, "-o", noisy, "--rate", str(2 * SYMBOL_RATE), "--symbol-rate", str(SYMBOL_RATE), "--cfo", "5k", "--esn0", "10", "--tail",
                  str(2 * SYMBOL_RATE * NOISE_S)]):
        subprocess.run([program, "dvbs2", *call], check=True, capture_output=True)
    return open(noisy, "rb").read()


def resident_bytes(process):
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Log:
    """What the program says, of which only the amount is kept."""

    def __init__(self, stream):
        self.lines = 0
        self.thread = threading.Thread(target=self.read, args=[stream], daemon=True)
        self.thread.start()

    def read(self, stream):
        for _ in stream:
            self.lines += 1


def run_through(process, recording, samples):
    """Resident bytes by the share of the samples that was taken."""
    taken, looked, seen = 0, 0, []
    while taken < samples:
        view = memoryview(recording)
        while len(view) > 0 and taken < samples:
            count = os.write(process.stdin.fileno(), view[:1 << 16])
            view, taken = view[count:], taken + count / 2
            if time.monotonic() - looked > LOOK_S:
                looked = time.monotonic()
                seen.append((taken / samples, resident_bytes(process)))
    return seen


def main():
    program = os.path.abspath(sys.argv[1])
    days = float(sys.argv[2]) if len(sys.argv) > 2 else 0.08
    samples = int(days * 86400 * 2 * SYMBOL_RATE)
    with tempfile.TemporaryDirectory() as folder:
        recording = make_recording(program, folder)
        process = subprocess.Popen([program, "dvbs2", "rx", "-", "--format", "ci8", "--rate", str(2 * SYMBOL_RATE),
                                    "--symbol-rate", str(SYMBOL_RATE), "-o", "/dev/null", "--json"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        log = Log(process.stderr)
        begun = time.monotonic()
        seen = run_through(process, recording, samples)
        process.stdin.close()
        report = json.loads(process.stdout.read())
        assert process.wait(timeout=60) == 0
        log.thread.join()
    before = max(size for share, size in seen if share < 0.1)
    after = max(size for share, size in seen if share >= 0.1)
    print(f"{days:g} days ({samples} samples) in {time.monotonic() - begun:.0f} s: {report['frames']} frames, "
          f"{report['frames_bad']} bad, {report['losses']['locks']} locks, {log.lines} lines said; {before / MB:.1f} MB at "
          f"the most in the first tenth, {after / MB:.1f} MB after it")
    return 0 if after - before <= MB else 1


if __name__ == "__main__":
    sys.exit(main())
