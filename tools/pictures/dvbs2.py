#!/usr/bin/env python3
"""Draws the pictures of docs/dvbs2.md from what the program sends, disturbs and counts.

usage: dvbs2.py PROGRAM FOLDER, where FOLDER holds fer.csv of `tidemill dvbs2 ber --csv`; needs numpy"""
import csv
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

COLOURS = ["#1b6ca8", "#c8553d", "#588b3b"]
# StreamPU's transceiver: Eb/N0 in dB and frame error rate, as the table of `tidemill dvbs2 ber` prints them.
PUBLISHED = {"QPSK 8/9": [(3.9, 0.117), (4.1, 1.6e-3)], "QPSK 3/5": [(2.0, 0.99), (2.3, 0.25), (2.5, 2.4e-3)],
             "8PSK 8/9": [(6.6, 0.21), (6.8, 5e-3)]}


def run(program, *arguments):
    subprocess.run([program, "dvbs2", *arguments], check=True, capture_output=True)


def sent_samples(program, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sent.cf32")
        run(program, "tx", "-o", path, "--format", "cf32", "--level", "0", *arguments)
        return np.fromfile(path, np.complex64)


class Chart:
    """A chart as SVG: axes with ticks, lines and marks in the axes' units."""

    WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 64, 16, 16, 48

    def __init__(self, x_range, y_range, x_label, y_label):
        self.x_range, self.y_range = x_range, y_range
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.WIDTH} {self.HEIGHT}" '
                      'font-family="sans-serif" font-size="12" fill="#333">',
                      f'<rect width="{self.WIDTH}" height="{self.HEIGHT}" fill="white"/>']
        middle = (self.TOP + self.HEIGHT - self.BOTTOM) / 2
        self.text((self.LEFT + self.WIDTH - self.RIGHT) / 2, self.HEIGHT - 10, x_label, "middle")
        self.parts.append(f'<text transform="translate(16 {middle:.0f}) rotate(-90)" text-anchor="middle">{y_label}</text>')

    def x(self, value):
        low, high = self.x_range
        return self.LEFT + (value - low) / (high - low) * (self.WIDTH - self.LEFT - self.RIGHT)

    def y(self, value):
        low, high = self.y_range
        return self.HEIGHT - self.BOTTOM - (value - low) / (high - low) * (self.HEIGHT - self.TOP - self.BOTTOM)

    def text(self, x, y, text, anchor="start", colour="#333"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>')

    def ticks(self, x_ticks, y_ticks):
        for value, label in x_ticks:
            self.line([(value, self.y_range[0]), (value, self.y_range[1])], "#ddd", 1)
            self.text(self.x(value), self.HEIGHT - self.BOTTOM + 16, label, "middle")
        for value, label in y_ticks:
            self.line([(self.x_range[0], value), (self.x_range[1], value)], "#ddd", 1)
            self.text(self.LEFT - 6, self.y(value) + 4, label, "end")

    def line(self, points, colour, width=1.5, dashes=""):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"'
                          + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")

    def mark(self, x, y, colour, filled=True):
        self.parts.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3.5" stroke="{colour}" '
                          f'fill="{colour if filled else "white"}"/>')

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*self.parts, "</svg>\n"]))


def draw_spectrum(program, path):
    """Power spectra of the three roll-offs, at eight samples a symbol."""
    chart = Chart((-1.5, 1.5), (-70, 5), "frequency over the symbol rate", "power density, dB")
    chart.ticks([(f / 2, f"{f / 2:g}") for f in range(-3, 4)], [(db, str(db)) for db in range(-70, 1, 10)])
    for colour, rolloff in zip(COLOURS, ("0.35", "0.25", "0.20")):
        samples = sent_samples(program, "--random", "600", "--rolloff", rolloff, "--samples-per-symbol", "8",
                               "--frame", "short", "--pilots")
        size = 1024
        pieces = np.lib.stride_tricks.sliding_window_view(samples, size)[::size // 2] * np.blackman(size)
        density = np.fft.fftshift((np.abs(np.fft.fft(pieces)) ** 2).mean(axis=0))
        frequency = np.fft.fftshift(np.fft.fftfreq(size)) * 8
        passband = density[np.abs(frequency) < 0.3].mean()
        keep = np.abs(frequency) <= 1.5
        chart.line(zip(frequency[keep], np.maximum(-70, 10 * np.log10(density[keep] / passband))), colour)
        chart.text(chart.x(0.95), chart.y(-3) + 16 * COLOURS.index(colour), f"roll-off {rolloff}", colour=colour)
    chart.save(path)


def constellation(program, modcod, esn0_db, size):
    """A square picture of how often symbols fall where, in sixteen steps from 0 to 255; headers are among them."""
    with tempfile.TemporaryDirectory() as folder:
        clean, noisy = (os.path.join(folder, name) for name in ("clean.sigmf-meta", "noisy.cf32"))
        run(program, "tx", "-o", clean, "--format", "cf32", "--level", "0", "--random", "2500", "--modcod", modcod,
            "--samples-per-symbol", "1")
        run(program, "channel", clean, "-o", noisy, "--symbol-rate", "1e6", "--esn0", str(esn0_db), "--format", "cf32",
            "--level", "0")
        symbols = np.fromfile(noisy, np.complex64) * np.sqrt(1 + 10 ** (-esn0_db / 10))
    edges = np.linspace(-1.6, 1.6, size + 1)
    counts = np.histogram2d(-symbols.imag, symbols.real, (edges, edges))[0]
    return 17 * np.rint(15 * np.sqrt(np.minimum(1, counts / np.quantile(counts, 0.998)))).astype(np.uint8)


def write_png(path, grey):
    """Eight-bit grey, dark where there is much."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in 255 - grey)
    header = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9))
                   + chunk(b"IEND", b""))


def draw_constellations(program, path):
    """Four MODCODs side by side, each 2 dB over its threshold of Table 13."""
    panels = [constellation(program, modcod, esn0_db, 200)
              for modcod, esn0_db in (("QPSK 8/9", 8.2), ("8PSK 8/9", 12.7), ("16APSK 8/9", 14.9), ("32APSK 8/9", 17.7))]
    gap = np.full((200, 8), 40, np.uint8)
    write_png(path, np.hstack([part for panel in panels for part in (panel, gap)][:-1]))


def draw_errors(csv_path, path):
    """Frame error rates with their intervals, and what others published."""
    chart = Chart((1.2, 8.2), (-4.5, 0.1), "Eb/N0, dB", "frame error rate")
    chart.ticks([(db, str(db)) for db in range(2, 9)], [(0, "1")] + [(-n, f"1e-{n}") for n in range(1, 5)])
    with open(csv_path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for colour, modcod in zip(COLOURS, PUBLISHED):
        points = []
        for row in (row for row in rows if row["MODCOD"] == modcod):
            x, rate = float(row["Eb/N0 dB"]), float(row["FER"])
            low, high = (np.log10(max(float(row[key]), 10 ** -4.5)) for key in ("95 % from", "to"))
            chart.line([(x, low), (x, high)], colour, 1)
            if rate > 0:
                points.append((x, np.log10(rate)))
                chart.mark(*points[-1], colour)
        chart.line(points, colour)
        theirs = [(x, np.log10(rate)) for x, rate in PUBLISHED[modcod]]
        chart.line(theirs, colour, 1, "4 3")
        for point in theirs:
            chart.mark(*point, colour, filled=False)
        chart.text(chart.x(theirs[-1][0]) + 8, chart.y(theirs[-1][1]) + 4, f"{modcod} short", colour=colour)
    chart.save(path)


def main():
    program, folder = sys.argv[1:]
    draw_spectrum(program, os.path.join(folder, "spectrum.svg"))
    draw_constellations(program, os.path.join(folder, "constellations.png"))
    draw_errors(os.path.join(folder, "fer.csv"), os.path.join(folder, "fer.svg"))


main()
