#include "tidemill/dsp/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemill::dsp {

std::vector<float> blackman_harris(std::size_t size) {
    std::vector<double> window(size);
    double power = 0;
    for (std::size_t n = 0; n < size; ++n) {
        const double u = 2 * std::numbers::pi * (static_cast<double>(n) + 0.5) / static_cast<double>(size);
        window[n] = 0.35875 - 0.48829 * std::cos(u) + 0.14128 * std::cos(2 * u) - 0.01168 * std::cos(3 * u);
        power += window[n] * window[n];
    }
    std::vector<float> scaled(size);
    std::ranges::transform(window, scaled.begin(),
                           [&](double w) { return static_cast<float>(w / std::sqrt(power)); });
    return scaled;
}

PowerSpectrum::PowerSpectrum(std::size_t bins)
    : fft_(bins), window_(blackman_harris(bins)), scratch_(bins), sums_(bins) {}

void PowerSpectrum::add(std::span<const Iq> samples) {
    pending_.insert(pending_.end(), samples.begin(), samples.end());
    std::size_t at = 0;
    for (; at + bins() <= pending_.size(); at += std::max<std::size_t>(1, bins() / 2))
        transform(std::span(pending_).subspan(at, bins()));
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
}

void PowerSpectrum::transform(std::span<const Iq> samples) {
    for (std::size_t n = 0; n < bins(); ++n) scratch_[n] = samples[n] * window_[n];
    fft_.forward(scratch_);
    for (std::size_t k = 0; k < bins(); ++k) sums_[k] += static_cast<double>(std::norm(scratch_[k]));
    ++stretches_;
}

std::vector<float> PowerSpectrum::power() const {
    std::vector<float> power;
    if (stretches_ == 0) return power;
    for (std::size_t k = 0; k < bins(); ++k) {
        const double sum = sums_[(k + bins() / 2) % bins()];
        power.push_back(static_cast<float>(sum / static_cast<double>(stretches_)));
    }
    return power;
}

}  // namespace tidemill::dsp
