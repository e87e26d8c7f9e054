#pragma once

#include <cstdint>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Complex white Gaussian noise of unit variance; sample n depends on seed and n alone, independent of thread
/// and order.
Iq gaussian_noise_at(std::uint64_t seed, std::uint64_t n);

/// Adds amplitude * noise to samples, of which the first is number n of the noise; equal to
/// gaussian_noise_at() but for rounding.
void add_gaussian_noise(std::uint64_t seed, std::uint64_t n, float amplitude, std::span<Iq> samples);

}  // namespace tidemill::dsp
