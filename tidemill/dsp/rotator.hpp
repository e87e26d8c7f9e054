#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <span>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// A complex oscillator gain * exp(2 pi j (phase + frequency * n)), in cycles and cycles per sample.
struct Oscillator {
    double phase_cycles = 0.0;
    double frequency = 0.0;
    double gain = 1.0;

    /// Its value at sample n.
    std::complex<double> at(double n) const {
        const double cycles = phase_cycles + frequency * n;
        return std::polar(gain, 2.0 * std::numbers::pi * (cycles - std::floor(cycles)));
    }
};

/// out[n] = in[n] * oscillator(n); spans of equal length, may be the same.
void rotate(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> out);

/// The same, with even-numbered results in `even` and odd-numbered ones in `odd` (each half as long as `in`).
void rotate_split(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd);
void rotate_split(std::span<const Ci8> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd);

}  // namespace tidemill::dsp
