#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <span>

#include "tidemill/dsp/byte_samples.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

constexpr std::size_t kMaxLags = 16;

/// The distances at which a signal is compared with itself: first, first + spacing, ... in samples.
struct LagSet {
    std::size_t first = 1;
    std::size_t spacing = 1;
    std::size_t count = kMaxLags;  // a multiple of 4, at most kMaxLags

    std::size_t lag(std::size_t index) const { return first + index * spacing; }
    /// The longest of them: how many samples beyond a stretch its correlation reads.
    std::size_t reach() const { return lag(count - 1); }
};

/// sums[i] = sum over n of conj(x[n]) * x[n + lag i]; zero beyond the set's count.
struct LagCorrelation {
    double power = 0.0;  // sum of |x[n]|^2
    std::array<std::complex<double>, kMaxLags> sums{};
};

/// Correlates the first `count` samples of x with later ones; x holds at least `lags.reach()` more.
LagCorrelation lag_correlation(std::span<const Iq> x, std::size_t count, const LagSet& lags);
/// The same of at most 32768 samples, whose full scale is 1: exact, and the same on every instruction set.
LagCorrelation lag_correlation(std::span<const Ci8> x, std::size_t count, const LagSet& lags);

}  // namespace tidemill::dsp
