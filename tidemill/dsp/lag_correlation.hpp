#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

constexpr std::size_t kLags = 16;

/// sums[l - 1] = sum over n of conj(x[n]) * x[n + l * spacing] for l = 1..kLags.
struct LagCorrelation {
    double power = 0.0;  // sum of |x[n]|^2
    std::array<std::complex<double>, kLags> sums{};
};

/// Correlates the first `count` samples of x with those up to kLags * spacing later (which x must hold).
LagCorrelation lag_correlation(std::span<const Iq> x, std::size_t count, std::size_t spacing);

}  // namespace tidemill::dsp
