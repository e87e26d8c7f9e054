#pragma once

#include <cstdint>
#include <span>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// A complex oscillator gain * exp(2 pi j (phase + frequency * n)), in cycles and cycles per sample.
struct Oscillator {
    double phase_cycles = 0.0;
    double frequency = 0.0;
    double gain = 1.0;
};

/// out[n] = in[n] * oscillator(n); spans of equal length, may be the same.
void rotate(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> out);

/// The same, with even-numbered results in `even` and odd-numbered ones in `odd` (each half as long as `in`).
void rotate_split(std::span<const Iq> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd);
void rotate_split(std::span<const Ci8> in, const Oscillator& oscillator, std::span<Iq> even,
                  std::span<Iq> odd);

/// The same, rounded to whole numbers that are held within 16 bits, real and imaginary parts apart.
void rotate_to_planes(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im);
void rotate_to_planes(std::span<const Ci8> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im);

/// The same, rounded to whole numbers, in pairs: of each two samples both real parts, then both imaginary
/// ones. `in` has an even number of samples, and none of which a part becomes larger than 32767.
void rotate_to_pairs(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> pairs);
void rotate_to_pairs(std::span<const Ci8> in, const Oscillator& oscillator, std::span<std::int16_t> pairs);

}  // namespace tidemill::dsp
