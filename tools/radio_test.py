#!/usr/bin/env python3
"""Receives from and transmits to the loopback, a radio for SoapySDR that is none.

usage: radio_test.py PROGRAM MODULES

MODULES is the folder with the loopback's module; no other is looked at. Each reception is compared, packet for packet,
with that of the file that is played or with what was sent. Exit status 77: there is no module.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PACKET = 188
RATE = 2_000_000
SYMBOL_RATE = 1_000_000
FRAME = 2 * (90 + 90 * 90 + 5 * 36)  # samples: short QPSK with pilots


class Radio:
    """The program with the loopback as its only radio."""

    def __init__(self, program, modules, folder):
        self.program, self.folder = program, folder
        # No module but ours: those of others look for hardware, and say what they do not find.
        self.environment = {**os.environ, "SOAPY_SDR_ROOT": folder, "SOAPY_SDR_PLUGIN_PATH": modules}

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words):
        return subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)

    def made(self, *words):
        done = self.call(*words)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def start(self, *words):
        return subprocess.Popen([self.program, *words], env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def reception(self, arguments, output, *more):
        return self.start("dvbs2", "rx", "driver=loopback," + arguments, "--freq", "100M", "--rate", str(RATE),
                          "--symbol-rate", str(SYMBOL_RATE), "--offset", "0", "-o", self.path(output), "--json", *more)


def packets(path):
    data = open(path, "rb").read()
    return [data[at:at + PACKET] for at in range(0, len(data) - len(data) % PACKET, PACKET)]


def ended(process):
    """Ctrl-C, which ends it within a second; its report."""
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    out, err = process.communicate(timeout=30)
    took = time.monotonic() - begun
    assert process.returncode == 0, err
    report = json.loads(out)
    return {**report, **report["losses"], "took_s": took}


def played(radio, arguments, seconds, output="radio.ts"):
    process = radio.reception(f"file={radio.path('clean.sigmf-meta')},buffer=0.2" + arguments, output)
    time.sleep(seconds)
    report = ended(process)
    return report, packets(radio.path(output))


def played_whole(radio, arguments, seconds):
    """Until nothing was lost, which a busy machine may do: who reads has to come every 0.2 s."""
    for _ in range(3):
        report, got = played(radio, arguments, seconds)
        if report["overflows"] == 0:
            break
    return report, got


def is_run_of(part, whole):
    """Whether packets stand in another list one behind the other, and from where on."""
    if not part:
        return None
    at = whole.index(part[0]) if part[0] in whole else None
    return at if at is not None and whole[at:at + len(part)] == part else None


def broken_runs(part, whole):
    """How many runs of consecutive packets of the whole there are in the part; none may be another's."""
    place = {packet: at for at, packet in enumerate(whole)}
    assert all(packet in place for packet in part), "a packet that nobody sent"
    places = [place[packet] for packet in part]
    return 1 + sum(b != a + 1 for a, b in zip(places, places[1:]))


def check_list(radio):
    listed = json.loads(radio.made("radio", "driver=loopback", "--json"))
    assert [each["place"] for each in listed["radios"]] == ["driver=loopback"], listed
    assert "Tidemill loopback" in radio.made("radio")
    hostile = radio.made("radio", "driver=loopback,serial=\x1b[2J<img>")
    assert "\x1b" not in hostile and "\\x1b[2J<img>" in hostile, hostile
    done = radio.call("radio", "driver=nothing")
    assert done.returncode == 1 and "no radio found" in done.stderr, done.stderr
    if shutil.which("SoapySDRUtil"):
        probed = subprocess.run(["SoapySDRUtil", "--probe=driver=loopback"], env=radio.environment,
                                capture_output=True, text=True)
        assert "driver=loopback" in probed.stdout and "CF32" in probed.stdout, probed.stdout + probed.stderr
        return "listed, and probed by SoapySDRUtil"
    return "listed (SKIPPED: no SoapySDRUtil)"


def check_playing(radio, reference, length_s):
    report, got = played_whole(radio, "", length_s + 1.5)
    assert got == reference, f"{len(got)} packets instead of {len(reference)}: {report['losses']}"
    assert report["overflows"] == 0 and report["took_s"] < 1.5, report
    return f"{len(got)} packets as from the file, ended in {report['took_s']:.2f} s"


def check_late_and_silent(radio, reference, length_s):
    report, got = played_whole(radio, ",late=1", length_s + 2.5)
    assert got == reference, f"late: {len(got)} packets instead of {len(reference)}"
    report, got = played_whole(radio, ",timeout=1+0.08", length_s + 1.5)
    assert got == reference and report["overflows"] == 0, f"timeout: {len(got)} of {len(reference)}"
    return "a second late, and silent for 80 ms: not a packet lost"


def check_overflow(radio, reference, length_s):
    report, got = played(radio, ",overflow=1+0.05", length_s + 1.5)
    assert report["overflows"] == 1 and report["samples_missing"] == 0.05 * RATE, report
    assert report["samples_missing_estimated"] == 0, report
    assert broken_runs(got, reference) == 2 and got[-1] == reference[-1]
    [located] = report["latest_overflows"]
    assert abs(located["at_s"] - 1) < 1e-4 and located["samples"] == 0.05 * RATE, located
    assert located["by"] == "times or counts", located
    counted = report["samples_missing"]
    report, got = played(radio, ",overflow=1+0.05,times=0", length_s + 1.5)
    assert report["overflows"] == 1 and got[-1] == reference[-1], report
    assert report["samples_missing_estimated"] == report["samples_missing"], report
    located = report["latest_overflows"][0]
    # By the frames to the sample; how many of these, a busy machine's clock may have wrong.
    off = located["samples"] - 0.05 * RATE
    assert located["by"] == "clock on the wall and frames", located
    assert abs(located["at_s"] - 1) < 0.1 and abs(off - round(off / FRAME) * FRAME) <= 1, located
    return (f"{counted} samples counted by time; {report['samples_missing']} by the clock on the wall, with the frames "
            f"{located['samples']}")


def check_stopped(radio, reference, length_s):
    process = radio.reception(f"file={radio.path('clean.sigmf-meta')}", "radio.ts")
    time.sleep(1.2)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    process.send_signal(signal.SIGCONT)
    time.sleep(length_s + 0.5)
    report, got = ended(process), packets(radio.path("radio.ts"))
    missing_s = report["samples_missing"] / RATE
    assert report["overflows"] == 1 and 0.2 < missing_s < 1, report
    assert broken_runs(got, reference) == 2 and got[-1] == reference[-1]
    symbols = report["samples_missing"] / 2
    return f"{report['samples_missing']} samples counted; {len(reference) - len(got)} packets lost ({symbols:.0f} symbols)"


def check_unplugged(radio, reference, length_s):
    report, got = played(radio, ",unplug=0.8+0.7", length_s + 1.5)
    assert report["overflows"] == 1, report
    assert got[-1] == reference[-1] and broken_runs(got, reference) == 2
    return f"opened again, {report['samples_missing'] / RATE:.3f} s missing"


def check_gone(radio):
    process = radio.reception(f"file={radio.path('clean.sigmf-meta')},unplug=0.8+100", "radio.ts")
    time.sleep(4)
    report = ended(process)
    assert report["took_s"] < 1.5 and any("vanished" in each for each in report["warnings"]), report
    return f"told of, and ended in {report['took_s']:.2f} s"


def sent_and_received(radio, air, arguments, packets_sent, symbol_rate):
    """Of two programs, until the sender was never late, which a busy machine may make it."""
    rate = ("--freq", "100M", "--rate", str(4 * symbol_rate), "--symbol-rate", str(symbol_rate))
    for _ in range(3):
        receiver = radio.start("dvbs2", "rx", f"driver=loopback,air={air},buffer=0.2" + arguments, *rate, "-o",
                               radio.path("air.ts"), "--json")
        time.sleep(1)
        sent = json.loads(radio.made("dvbs2", "tx", "--random", str(packets_sent), "-o",
                                     f"driver=loopback,air={air},buffer=0.2", *rate, "--frame", "short", "--pilots",
                                     "--packets-output", radio.path("sent.ts"), "--json"))
        time.sleep(1)
        report = ended(receiver)
        if sent["underflows"] == 0 and report["overflows"] == 0:
            break
    assert sent["underflows"] == 0 and sent["samples_limited"] == 0 and report["overflows"] == 0, (sent, report["losses"])
    left = [name for name in os.listdir("/dev/shm") if "tidemill-loopback" in name and name.endswith("-" + air)]
    assert not left, left
    return report, packets(radio.path("air.ts")), packets(radio.path("sent.ts"))


def check_two_programs(radio):
    report, got, whole = sent_and_received(radio, "test", "", 1500, SYMBOL_RATE // 2)
    at = is_run_of(got, whole)
    assert at is not None and at + len(got) == len(whole), f"{len(got)} of {len(whole)} packets, from {at} on"
    return f"{len(got)} of {len(whole)} packets, from {at} on to the last; nothing left in memory"


def check_through_channel(radio):
    symbol_rate = SYMBOL_RATE // 4
    report, got, whole = sent_and_received(radio, "noisy", f",esn0=12,cfo=500,ppm=10,symbol-rate={symbol_rate}", 600,
                                           symbol_rate)
    assert len(got) > 500 and broken_runs(got, whole) == 1, (len(got), report["losses"])
    assert abs(report["esn0_db"] - 12) < 0.5, report["esn0_db"]
    return f"{len(got)} of {len(whole)} packets at {report['esn0_db']:.1f} dB"


def check_sender_interrupted(radio):
    sender = radio.start("dvbs2", "tx", "--random", "100000", "-o", "driver=loopback,air=long", "--freq", "100M",
                         "--symbol-rate", "33k", "--samples-per-symbol", "4", "--json")
    time.sleep(3)
    begun = time.monotonic()
    sender.send_signal(signal.SIGINT)
    out, err = sender.communicate(timeout=30)
    took = time.monotonic() - begun
    assert sender.returncode == 0 and took < 1.5, (took, err)
    return f"{json.loads(out)['frames']} frames of a slow signal, ended in {took:.2f} s"


def main():
    program, modules = sys.argv[1:3]
    if not os.path.isdir(modules) or not os.listdir(modules):
        print("skipped: no module of the loopback (libsoapysdr-dev is missing)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        radio = Radio(program, os.path.abspath(modules), folder)
        radio.made("dvbs2", "tx", "--random", "3000", "-o", radio.path("clean.sigmf-meta"), "--modcod", "QPSK 3/4",
                   "--frame", "short", "--pilots", "--symbol-rate", str(SYMBOL_RATE))
        radio.made("dvbs2", "rx", radio.path("clean.sigmf-meta"), "--symbol-rate", str(SYMBOL_RATE), "--offset", "0",
                   "-o", radio.path("file.ts"))
        reference = packets(radio.path("file.ts"))
        length_s = os.path.getsize(radio.path("clean.sigmf-data")) / 2 / RATE
        checks = [("listed", check_list, ()), ("a recording", check_playing, (reference, length_s)),
                  ("late, silent", check_late_and_silent, (reference, length_s)),
                  ("overflow", check_overflow, (reference, length_s)),
                  ("stopped for 300 ms", check_stopped, (reference, length_s)),
                  ("unplugged", check_unplugged, (reference, length_s)), ("gone", check_gone, ()),
                  ("two programs", check_two_programs, ()),
                  ("sender", check_sender_interrupted, ()), ("a channel", check_through_channel, ())]
        wanted = sys.argv[3:]
        failed = 0
        for name, check, arguments in checks:
            if wanted and name not in wanted:
                continue
            try:
                print(f"{name + ':':20} {check(radio, *arguments)}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired, KeyError) as error:
                failed += 1
                print(f"{name + ':':20} FAILED: {type(error).__name__} {str(error)[:1500]}", flush=True)
    print(f"{len(wanted or checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
