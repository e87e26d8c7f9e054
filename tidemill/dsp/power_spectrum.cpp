#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/power_spectrum.cpp"
#include "tidemill/dsp/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Each returns how many floats, or bins, are done.
std::size_t multiply(const float* x, const float* y, std::size_t floats, float* products) {
    const hn::ScalableTag<float> d;
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= floats; n += hn::Lanes(d))
        hn::StoreU(hn::Mul(hn::LoadU(d, x + n), hn::LoadU(d, y + n)), d, products + n);
    return n;
}

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t add_powers(const float*, std::size_t, double*) {
    return 0;
}

#else

std::size_t add_powers(const float* x, std::size_t bins, double* sums) {
    const hn::ScalableTag<float> d;
    const hn::Half<decltype(d)> half;
    const hn::Repartition<double, decltype(d)> wide;
    const auto add = [&](hn::Vec<decltype(half)> powers, double* to) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(wide, to), hn::PromoteTo(wide, powers)), wide, to);
    };
    std::size_t k = 0;
    for (; k + hn::Lanes(d) <= bins; k += hn::Lanes(d)) {
        const auto a = hn::LoadU(d, x + 2 * k), b = hn::LoadU(d, x + 2 * k + hn::Lanes(d));
        const auto re = hn::ConcatEven(d, b, a), im = hn::ConcatOdd(d, b, a);
        const auto powers = hn::MulAdd(re, re, hn::Mul(im, im));
        add(hn::LowerHalf(half, powers), sums + k);
        add(hn::UpperHalf(half, powers), sums + k + hn::Lanes(half));
    }
    return k;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(multiply);
HWY_EXPORT(add_powers);

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
    : fft_(bins), stretch_(bins), windowed_(bins), spectrum_(bins), sums_(bins) {
    for (const float value : blackman_harris(bins)) window_.insert(window_.end(), 2, value);
}

void PowerSpectrum::add(std::span<const Iq> samples) {
    const std::size_t step = std::max<std::size_t>(1, bins() / 2);
    while (!samples.empty()) {
        const std::size_t count = std::min(samples.size(), bins() - filled_);
        copy_samples(samples.first(count), std::span(stretch_).subspan(filled_));
        samples = samples.subspan(count);
        filled_ += count;
        if (filled_ < bins()) return;
        transform();
        copy_samples(std::span(stretch_).subspan(step), stretch_);
        filled_ -= step;
    }
}

void PowerSpectrum::transform() {
    const auto* x = reinterpret_cast<const float*>(stretch_.data());
    auto* windowed = reinterpret_cast<float*>(windowed_.data());
    for (std::size_t n = HWY_DYNAMIC_DISPATCH(multiply)(x, window_.data(), 2 * bins(), windowed);
         n < 2 * bins(); ++n)
        windowed[n] = x[n] * window_[n];
    fft_.forward(windowed_, spectrum_);
    for (std::size_t k = HWY_DYNAMIC_DISPATCH(add_powers)(reinterpret_cast<const float*>(spectrum_.data()),
                                                          bins(), sums_.data());
         k < bins(); ++k)
        sums_[k] += static_cast<double>(std::norm(spectrum_[k]));
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
#endif
