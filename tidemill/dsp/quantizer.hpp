#pragma once

#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Writes gain * samples as integers, real and imaginary part in turn, rounded to nearest; 1.0 becomes the
/// largest value, and for unsigned ones 0.0 lies between 127 and 128. `to` holds two for each sample. Returns
/// how many samples were beyond full scale or not a number: those are limited, a NaN becomes 0.
template <typename Integer>  // std::int8_t, std::uint8_t or std::int16_t
std::uint64_t quantize(std::span<const Iq> samples, float gain, std::span<Integer> to);

}  // namespace tidemill::dsp
