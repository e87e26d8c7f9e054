"""Samples of a signal: their spectrum, and the eye of their symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .figure import Figure, Note
from .style import COLOURS, GREY, new_figure, styled

_FINE = 16  # points per symbol of a drawn eye
_EDGE_SYMBOLS = 16  # where the filter has not all of its neighbours


def _complex(samples: ArrayLike, least: int) -> NDArray[np.complex128]:
    given = np.ravel(np.asarray(samples))
    if len(given) < least or not np.isfinite(given).all():
        raise _core.WrongUsage(f"{len(given)} samples: give {least} or more, all of them finite")
    return given.astype(np.complex128)


def power_density(samples: ArrayLike, sample_rate_hz: float, bins: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Frequencies in Hz, powers in dB of full scale per Hz: Welch's means of overlapping pieces under Hann's window."""
    given = _complex(samples, bins)
    window = np.hanning(bins + 1)[:-1]
    starts = range(0, len(given) - bins + 1, bins // 2)
    power = np.zeros(bins)
    for start in starts:
        power += np.abs(np.fft.fft(window * given[start : start + bins])) ** 2
    density = np.fft.fftshift(power) / (len(starts) * sample_rate_hz * np.sum(window**2))
    frequency = np.fft.fftshift(np.fft.fftfreq(bins, 1 / sample_rate_hz))
    return frequency, 10 * np.log10(np.maximum(density, np.finfo(float).tiny))


def spectrum(
    samples: ArrayLike | Mapping[str, ArrayLike],
    *,
    sample_rate_hz: float | None = None,
    bins: int = 1024,
    call: str = "",
) -> Figure:
    """The power of complex samples of full scale 1 over the frequency; without a sample rate in cycles per sample.

    samples: of one signal, or of several by their names.
    """
    if bins < 16 or (sample_rate_hz is not None and not sample_rate_hz > 0):
        raise _core.WrongUsage("bins: give 16 or more; sample_rate_hz: more than 0")
    signals = samples if isinstance(samples, Mapping) else {"": samples}
    powers = {name: power_density(each, sample_rate_hz or 1.0, bins) for name, each in signals.items()}
    scale, unit = _unit_of(sample_rate_hz)
    with styled():
        sheet, axes = new_figure(0.6)
        for place, (name, (frequency, power)) in enumerate(powers.items()):
            colour = COLOURS[(place + 1) % len(COLOURS)]
            axes.plot(frequency / scale, power, color=colour, linewidth=0.7, label=name)
        per = "Hz" if sample_rate_hz else "cycle/sample"
        axes.set(xlabel=f"frequency in {unit}", ylabel=f"dB of full scale\nper {per}")
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlim(frequency[0] / scale, -frequency[0] / scale)
        if any(powers):
            axes.legend()
    return Figure(sheet, axes, _spectrum_columns(powers, "frequency_hz" if sample_rate_hz else "frequency"),
                  Note(call or f"tidemill.figures.spectrum(samples, sample_rate_hz={sample_rate_hz})"))  # fmt: skip


def _spectrum_columns(
    powers: Mapping[str, tuple[NDArray[Any], NDArray[Any]]], frequency: str
) -> dict[str, NDArray[Any]]:
    frequencies, densities = zip(*powers.values(), strict=True)
    columns = {frequency: np.concatenate(frequencies), "power_db": np.concatenate(densities)}
    if not any(powers):
        return columns
    return {"signal": np.repeat(list(powers), [len(each) for each in frequencies]), **columns}


def _unit_of(sample_rate_hz: float | None) -> tuple[float, str]:
    if sample_rate_hz is None:
        return 1.0, "cycles per sample"
    return next(((scale, unit) for scale, unit in ((1e6, "MHz"), (1e3, "kHz")) if sample_rate_hz > scale), (1.0, "Hz"))


def _root_raised_cosine(frequency: NDArray[Any], rolloff: float) -> NDArray[Any]:
    """Its frequency response, over cycles per symbol (EN 302 307-1, 5.6)."""
    inner, outer = (1 - rolloff) / 2, (1 + rolloff) / 2
    slope = np.pi / 2 * (np.clip(np.abs(frequency), inner, outer) - inner) / max(outer - inner, 1e-12)
    return np.asarray(np.cos(slope))


def _finely(samples: NDArray[Any], samples_per_symbol: float, rolloff: float | None) -> NDArray[Any]:
    """Filtered, and interpolated to _FINE points per symbol, without the edges."""
    symbols = int(len(samples) / samples_per_symbol)
    spectrum_ = np.fft.fft(samples)
    frequency = np.fft.fftfreq(len(samples), 1 / samples_per_symbol)
    if rolloff is not None:
        spectrum_ = spectrum_ * _root_raised_cosine(frequency, rolloff)
    if rolloff is None and samples_per_symbol < 2:
        raise _core.WrongUsage("samples_per_symbol: give 2 or more")
    fine = np.zeros(int(round(len(samples) * _FINE / samples_per_symbol)), np.complex128)
    half = min(len(samples), len(fine)) // 2
    fine[:half], fine[-half:] = spectrum_[:half], spectrum_[-half:]
    signal = np.fft.ifft(fine) * len(fine) / len(samples)
    return signal[_EDGE_SYMBOLS * _FINE : (symbols - _EDGE_SYMBOLS) * _FINE]


def eye(
    samples: ArrayLike,
    *,
    samples_per_symbol: float = 2,
    rolloff: float | None = 0.20,
    symbols: int = 400,
    call: str = "",
) -> Figure:
    """Two symbols of the signal on one another: where the eye is open, symbols can be told apart.

    samples: with their carrier at 0 and in phase.
    rolloff: of the root raised cosine that they are filtered with as a receiver does it; None for samples that have been.
    Where symbols lie is found by the power.
    """
    if samples_per_symbol < 1 or symbols < 2 or not (rolloff is None or 0 <= rolloff <= 1):
        raise _core.WrongUsage("samples_per_symbol: give 1 or more; symbols: 2 or more; rolloff: from 0 to 1, or None")
    wanted = int(samples_per_symbol * (symbols + 2 * _EDGE_SYMBOLS + 2))
    given = _complex(samples, int(samples_per_symbol * (2 * _EDGE_SYMBOLS + 4)))[:wanted]
    fine = _finely(given, samples_per_symbol, rolloff)
    rows = fine[: len(fine) // _FINE * _FINE].reshape(-1, _FINE)
    middle = int(np.argmax(np.mean(np.abs(rows) ** 2, axis=0)))
    fine = fine[middle:]
    traces = np.stack([fine[at : at + 2 * _FINE + 1] for at in range(0, len(fine) - 2 * _FINE, _FINE)])
    time = np.arange(2 * _FINE + 1) / _FINE - 1
    with styled():
        sheet, axes = new_figure(0.6)
        axes.axvline(0, color=GREY, linestyle=":")
        axes.plot(time, traces.real.T, color=COLOURS[1], alpha=0.12, linewidth=0.5, rasterized=True)
        axes.set(xlim=(-1, 1), xlabel="symbols", ylabel="in phase")
        axes.locator_params(axis="x", nbins=6)
        axes.set_title(f"{len(traces)} symbols")
    columns = {
        "symbol": np.repeat(np.arange(len(traces)), len(time)),
        "time": np.tile(time, len(traces)),
        "i": traces.real.ravel(),
        "q": traces.imag.ravel(),
    }
    told = f"tidemill.figures.eye(samples, samples_per_symbol={samples_per_symbol}, rolloff={rolloff})"
    return Figure(sheet, axes, columns, Note(call or told))
