#include "tidemill/dvbs2/channel/internal/interpolation.hpp"

#include <cmath>
#include <numbers>

namespace tidemill::dvbs2::internal {
namespace {

constexpr std::size_t kTaps = 64;
// The nearest phase is taken: timing noise 70 dB below a signal at 0.3 of the sample rate.
constexpr std::size_t kPhases = 2048;

// Sinc under a four-term Blackman-Harris window (Harris 1978: side lobes 92 dB down).
double interpolation_kernel(double t) {
    if (std::abs(t) >= kTaps / 2.0) {
        return 0.0;
    }
    const double x = std::numbers::pi * t;
    const double sinc = std::abs(x) < 1e-9 ? 1.0 : std::sin(x) / x;
    const double u = 2.0 * x / kTaps;
    return sinc * (0.35875 + 0.48829 * std::cos(u) + 0.14128 * std::cos(2 * u) + 0.01168 * std::cos(3 * u));
}

}  // namespace

dsp::Resampler delayed(double delay_samples, double step) {
    static const dsp::PolyphaseBank bank(kTaps, kPhases, interpolation_kernel);
    return {bank, kTaps, -delay_samples, step};
}

}  // namespace tidemill::dvbs2::internal
