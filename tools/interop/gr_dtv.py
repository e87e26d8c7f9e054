#!/usr/bin/env python3
"""Compares Tidemill with GNU Radio's gr-dtv, MODCOD by MODCOD, frame size by frame size, pilots on and off.

usage: gr_dtv.py PROGRAM [--only TEXT]; prints a Markdown table

sent      both transmitters get the same packets; their PLFRAMEs are compared symbol by symbol
received  gr-dtv's symbols, shaped, with noise and a frequency offset, are received by Tidemill, which must give
          back every frame, and their packets in order
Exit status 0 when all agree, 1 when not, 77 when GNU Radio is not there."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from gnuradio import blocks, dtv, gr
except ImportError as error:
    print(f"skipped: GNU Radio with gr-dtv is not here ({error}); on Debian: apt-get install gnuradio")
    sys.exit(77)

PACKET_BYTES = 188
MOST_DISTANCE = 1e-6  # of two symbols that count as equal: rounding of single precision
BITS = {"QPSK": 2, "8PSK": 3, "16APSK": 4, "32APSK": 5}
ROLLOFF = 0.20
RATES = {"QPSK": "1/4 1/3 2/5 1/2 3/5 2/3 3/4 4/5 5/6 8/9 9/10", "8PSK": "3/5 2/3 3/4 5/6 8/9 9/10",
         "16APSK": "2/3 3/4 4/5 5/6 8/9 9/10", "32APSK": "3/4 4/5 5/6 8/9 9/10"}
# Far enough above the thresholds of Table 13 that only a disagreement can cost a packet.
ESN0_DB = {"QPSK": 12, "8PSK": 16, "16APSK": 18, "32APSK": 22}


def random_packets(count):
    packets = np.random.default_rng(1).integers(0, 256, (count, PACKET_BYTES), dtype=np.uint8)
    packets[:, 0] = 0x47
    packets[:, 1] = 0x01
    return packets.ravel()


def gr_symbols(modulation, rate, size, pilots, packets):
    """The symbols of the PLFRAMEs that gr-dtv makes of the packets."""
    frame = {"normal": dtv.FECFRAME_NORMAL, "short": dtv.FECFRAME_SHORT}[size]
    code = getattr(dtv, "C" + rate.replace("/", "_"))
    points = getattr(dtv, "MOD_" + modulation)
    source = blocks.vector_source_b(packets.tolist(), False)
    sink = blocks.vector_sink_c()
    top = gr.top_block()
    top.connect(source,
                dtv.dvb_bbheader_bb(dtv.STANDARD_DVBS2, frame, code, dtv.RO_0_20, dtv.INPUTMODE_NORMAL,
                                    dtv.INBAND_OFF, 0, 0),
                dtv.dvb_bbscrambler_bb(dtv.STANDARD_DVBS2, frame, code),
                dtv.dvb_bch_bb(dtv.STANDARD_DVBS2, frame, code),
                dtv.dvb_ldpc_bb(dtv.STANDARD_DVBS2, frame, code, points),
                dtv.dvbs2_interleaver_bb(frame, code, points),
                dtv.dvbs2_modulator_bc(frame, code, points, dtv.INTERPOLATION_OFF),
                dtv.dvbs2_physical_cc(frame, code, points, dtv.PILOTS_ON if pilots else dtv.PILOTS_OFF, 0), sink)
    top.run()
    return np.array(sink.data(), np.complex64)[::2]  # a zero stands behind each symbol


def our_symbols(program, modulation, rate, size, pilots, folder):
    output = os.path.join(folder, "ours.cf32")
    command = [program, "dvbs2", "tx", os.path.join(folder, "packets.ts"), "-o", output, "--modcod",
               f"{modulation} {rate}", "--frame", size, "--format", "cf32", "--samples-per-symbol", "1", "--level", "0"]
    subprocess.run(command + ["--pilots"] * pilots, check=True, capture_output=True)
    return np.fromfile(output, np.complex64)


def shape(symbols, esn0_db):
    """Two samples a symbol with a root raised cosine, noise and an offset of 3 % of the symbol rate."""
    reach, b = 32, ROLLOFF
    t = np.arange(-2 * reach, 2 * reach + 1) / 2 + 1e-9
    pulse = (np.sin(np.pi * t * (1 - b)) + 4 * b * t * np.cos(np.pi * t * (1 + b))) / (np.pi * t * (1 - (4 * b * t) ** 2))
    stuffed = np.zeros(2 * len(symbols), np.complex64)
    stuffed[::2] = symbols
    signal = np.convolve(stuffed, pulse)
    noise = np.random.default_rng(2).normal(0, np.sqrt(10 ** (-esn0_db / 10)), (2, len(signal)))
    turned = signal * np.exp(2j * np.pi * 0.015 * np.arange(len(signal)))
    return (0.2 * (turned + noise[0] + 1j * noise[1])).astype(np.complex64)


def received(program, samples, folder):
    """The frames that Tidemill received without an error, those with errors, and the packets."""
    recording, output = os.path.join(folder, "theirs.cf32"), os.path.join(folder, "out.ts")
    samples.tofile(recording)
    command = [program, "dvbs2", "rx", recording, "--sample-rate", "2e6", "-o", output, "--executor", "sequence",
               "--json"]
    run = subprocess.run(command, capture_output=True, check=False)
    if run.returncode != 0:
        return 0, 0, np.zeros(0, np.uint8)
    report = json.loads(run.stdout)
    good = report["frames"] - report["frames_bad"]
    return good, report["frames_bad"], np.fromfile(output, np.uint8)


def frames_of(symbols, modulation, size, pilots):
    bits = {"normal": 64800, "short": 16200}[size]
    slots = bits // BITS[modulation] // 90
    return len(symbols) // (90 * (slots + 1) + (36 * ((slots - 1) // 16) if pilots else 0))


def run_case(program, modulation, rate, size, pilots):
    with tempfile.TemporaryDirectory() as folder:
        packets = random_packets(260 if size == "normal" else 90)
        packets.tofile(os.path.join(folder, "packets.ts"))
        theirs = gr_symbols(modulation, rate, size, pilots, packets)
        ours = our_symbols(program, modulation, rate, size, pilots, folder)[:len(theirs)]
        distance = np.abs(theirs - ours) if len(ours) == len(theirs) > 0 else np.ones(1)
        good, bad, got = received(program, shape(theirs, ESN0_DB[modulation]), folder)
        frames = frames_of(theirs, modulation, size, pilots)
        in_order = len(got) > 0 and np.array_equal(got, packets[:len(got)])
        return dict(frames=frames, differing=int((distance > MOST_DISTANCE).sum()), distance=float(distance.max()),
                    good=good, packets=len(got) // PACKET_BYTES, decoded=bad == 0 and good == frames and in_order)


def cell(case):
    sent = "=" if case["differing"] == 0 else f"{case['differing']} symbols differ"
    got = "=" if case["decoded"] else f"{case['good']} received"
    return f"{case['frames']} {sent}, {case['packets']} {got}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="only MODCODs whose name holds this text")
    args = parser.parse_args()
    print(f"GNU Radio {gr.version()}, `./x interop`. A cell: PLFRAMEs sent by both, = when equal; packets received")
    print("from gr-dtv's, = when no frame and no packet is missing.\n")
    print("| MODCOD | normal | normal, pilots | short | short, pilots |\n|---|---|---|---|---|")
    cases = []
    for name in [f"{modulation} {rate}" for modulation, rates in RATES.items() for rate in rates.split()]:
        if args.only not in name:
            continue
        modulation, rate = name.split()
        row = []
        for size in ("normal", "short")[:1 if rate == "9/10" else 2]:
            row += [run_case(args.program, modulation, rate, size, pilots) for pilots in (False, True)]
        cases += row
        print(f"| {name} | " + " | ".join([cell(case) for case in row] + ["–"] * (4 - len(row))) + " |", flush=True)
    equal = sum(case["differing"] == 0 for case in cases)
    decoded = sum(case["decoded"] for case in cases)
    largest = max(case["distance"] for case in cases)
    print(f"\nSent equal: {equal} of {len(cases)} (largest distance of two symbols {largest:.1e}). "
          f"Received whole: {decoded} of {len(cases)}.")
    sys.exit(0 if equal == decoded == len(cases) else 1)


main()
