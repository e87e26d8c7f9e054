#pragma once

#include <complex>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// The sum of the symbols' powers of order 4, 8, 12 or 16, in which all points of a modulation, or most of
/// the strong ones, fall together on the positive real axis. Of the length only the square is kept: for each
/// of the modulations, near its thresholds, that comes close to the weight that leaves the least noise.
std::complex<float> power_sum(std::span<const dsp::Iq> symbols, int order);

}  // namespace tidemill::dvbs2::internal
