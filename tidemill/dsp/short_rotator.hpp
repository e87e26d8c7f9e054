#pragma once

#include <cstdint>
#include <span>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dsp {

/// As rotate(), rounded to whole numbers that are held within 16 bits, real and imaginary parts apart.
void rotate_to_planes(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im);
void rotate_to_planes(std::span<const Ci8> in, const Oscillator& oscillator, std::span<std::int16_t> re,
                      std::span<std::int16_t> im);

/// As rotate(), rounded to whole numbers, in pairs: of each two samples both real parts, then both imaginary
/// ones. `in` has an even number of samples, and none of which a part becomes larger than 32767.
void rotate_to_pairs(std::span<const Iq> in, const Oscillator& oscillator, std::span<std::int16_t> pairs);
void rotate_to_pairs(std::span<const Ci8> in, const Oscillator& oscillator, std::span<std::int16_t> pairs);

}  // namespace tidemill::dsp
