#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sampling_interpolator.cpp"
#include "tidemill/dsp/sampling_interpolator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/pulse.hpp"

#ifndef TIDEMILL_DSP_STROBE_INTERPOLATOR_ONCE
#define TIDEMILL_DSP_STROBE_INTERPOLATOR_ONCE
namespace tidemill::dsp::internal {

// At 128 fractions of half a symbol the rounding of the sampling_instant costs less than -55 dB.
inline constexpr std::size_t kPhases = 128;
inline constexpr std::size_t kCentre = SamplingInterpolator::kTaps / 2 - 1;

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One group: taps alternate between the half that holds the first sample (a) and the other one (b). All of
// them stay in registers: what is stored might be taps, for all that the compiler knows.
void read_group(const float* a, const float* b, const float* taps, float* symbols) {
    const hn::ScalableTag<float> d;
    static_assert(SamplingInterpolator::kTaps == 8);
    const auto t0 = hn::Set(d, taps[0]), t1 = hn::Set(d, taps[1]), t2 = hn::Set(d, taps[2]),
               t3 = hn::Set(d, taps[3]), t4 = hn::Set(d, taps[4]), t5 = hn::Set(d, taps[5]),
               t6 = hn::Set(d, taps[6]), t7 = hn::Set(d, taps[7]);
    for (std::size_t n = 0; n < 2 * SamplingInterpolator::kGroup; n += hn::Lanes(d)) {
        const auto at = [&](const float* half, std::size_t pair)
                            HWY_ATTR { return hn::LoadU(d, half + n + 2 * pair); };
        auto from_a = hn::Mul(t0, at(a, 0)), from_b = hn::Mul(t1, at(b, 0));
        from_a = hn::MulAdd(t2, at(a, 1), from_a);
        from_b = hn::MulAdd(t3, at(b, 1), from_b);
        from_a = hn::MulAdd(t4, at(a, 2), from_a);
        from_b = hn::MulAdd(t5, at(b, 2), from_b);
        from_a = hn::MulAdd(t6, at(a, 3), from_a);
        from_b = hn::MulAdd(t7, at(b, 3), from_b);
        hn::StoreU(hn::Add(from_a, from_b), d, symbols + n);
    }
}

void read_groups(const float* even, const float* odd, const float* taps, double first, double step,
                 std::size_t count, float* symbols) {
    // Taps are chosen for the middle of a group; inside it the sampling_instants are taken as exactly two
    // samples apart.
    const double to_middle = (step - 2.0) * (SamplingInterpolator::kGroup - 1) / 2.0;
    for (std::size_t i = 0; i < count; i += SamplingInterpolator::kGroup) {
        const double position = first + static_cast<double>(i) * step + to_middle;
        const auto index = static_cast<std::size_t>(position * internal::kPhases + 0.5);
        const std::size_t base = index / internal::kPhases - internal::kCentre;
        const std::size_t floats = base / 2 * 2;
        const float* a = base % 2 ? odd + floats : even + floats;
        const float* b = base % 2 ? even + floats + 2 : odd + floats;
        read_group(a, b, taps + index % internal::kPhases * SamplingInterpolator::kTaps, symbols + 2 * i);
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(read_groups);

namespace {

using internal::kCentre;
using internal::kPhases;
constexpr std::size_t kTaps = SamplingInterpolator::kTaps;

using Row = std::array<double, kTaps>;

// Autocorrelation of a raised-cosine spectrum at two samples per symbol, with a little white noise so that
// the equations below stay well conditioned.
double correlation(double samples, double rolloff) {
    return raised_cosine(samples / 2.0, rolloff) + (samples == 0.0 ? 1e-6 : 0.0);
}

// Solves the symmetric positive definite system in place by elimination.
Row solve(std::array<Row, kTaps> matrix, Row right) {
    for (std::size_t i = 0; i < kTaps; ++i) {
        for (std::size_t j = i + 1; j < kTaps; ++j) {
            const double factor = matrix[j][i] / matrix[i][i];
            for (std::size_t k = i; k < kTaps; ++k) matrix[j][k] -= factor * matrix[i][k];
            right[j] -= factor * right[i];
        }
    }
    for (std::size_t i = kTaps; i-- > 0;) {
        for (std::size_t k = i + 1; k < kTaps; ++k) right[i] -= matrix[i][k] * right[k];
        right[i] /= matrix[i][i];
    }
    return right;
}

}  // namespace

SamplingInterpolator::SamplingInterpolator(double rolloff) : taps_(kPhases * kTaps) {
    std::array<Row, kTaps> matrix;
    for (std::size_t i = 0; i < kTaps; ++i) {
        for (std::size_t j = 0; j < kTaps; ++j) {
            matrix[i][j] = correlation(static_cast<double>(i) - static_cast<double>(j), rolloff);
        }
    }
    double error = 0.0;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
        Row wanted;
        for (std::size_t k = 0; k < kTaps; ++k) {
            const double offset = static_cast<double>(k) - static_cast<double>(kCentre);
            wanted[k] = raised_cosine((offset - static_cast<double>(phase) / kPhases) / 2.0, rolloff);
        }
        const Row taps = solve(matrix, wanted);
        error += 1.0;
        for (std::size_t k = 0; k < kTaps; ++k) {
            taps_[phase * kTaps + k] = static_cast<float>(taps[k]);
            error -= taps[k] * wanted[k];
        }
    }
    error_db_ = 10.0 * std::log10(error / kPhases);
}

void SamplingInterpolator::read(SplitView x, double first, double step, std::size_t count,
                                std::span<Iq> symbols) const {
    assert(first >= kCentre && symbols.size() >= (count + kGroup - 1) / kGroup * kGroup);
    assert(x.even.size() == x.odd.size());
    [[maybe_unused]] const std::size_t last_group = (std::max<std::size_t>(1, count) - 1) / kGroup * kGroup;
    assert(2.0 * static_cast<double>(x.even.size()) >=
           first + static_cast<double>(last_group) * step + 2 * kGroup + kTaps - kCentre + 1);
    HWY_DYNAMIC_DISPATCH(read_groups)
    (reinterpret_cast<const float*>(x.even.data()), reinterpret_cast<const float*>(x.odd.data()),
     taps_.data(), first, step, count, reinterpret_cast<float*>(symbols.data()));
}

}  // namespace tidemill::dsp
#endif
