#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/strobe_interpolator.cpp"
#include "tidemill/dsp/strobe_interpolator.hpp"

#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/pulse.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One group: taps alternate between the half that holds the first sample (a) and the other one (b).
void ReadGroup(const float* a, const float* b, const float* taps, float* symbols) {
    const hn::ScalableTag<float> d;
    for (std::size_t n = 0; n < 2 * StrobeInterpolator::kGroup; n += hn::Lanes(d)) {
        auto from_a = hn::Zero(d), from_b = from_a;
        for (std::size_t q = 0; q < StrobeInterpolator::kTaps / 2; ++q) {
            from_a = hn::MulAdd(hn::Set(d, taps[2 * q]), hn::LoadU(d, a + n + 2 * q), from_a);
            from_b = hn::MulAdd(hn::Set(d, taps[2 * q + 1]), hn::LoadU(d, b + n + 2 * q), from_b);
        }
        hn::StoreU(hn::Add(from_a, from_b), d, symbols + n);
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(ReadGroup);

namespace {

// At 128 fractions of half a symbol the rounding of the strobe costs less than -55 dB.
constexpr std::size_t kPhases = 128;
constexpr std::size_t kTaps = StrobeInterpolator::kTaps;
constexpr std::ptrdiff_t kCentre = kTaps / 2 - 1;

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

StrobeInterpolator::StrobeInterpolator(double rolloff) : taps_(kPhases * kTaps) {
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

void StrobeInterpolator::read(SplitView x, double first, double step, std::size_t count,
                              std::span<Iq> symbols) const {
    assert(symbols.size() >= (count + kGroup - 1) / kGroup * kGroup);
    // Taps are chosen for the middle of a group; inside it the strobes are taken as exactly two samples
    // apart.
    const double to_middle = (step - 2.0) * (kGroup - 1) / 2.0;
    for (std::size_t i = 0; i < count; i += kGroup) {
        const double position = first + static_cast<double>(i) * step + to_middle;
        const auto index = static_cast<std::int64_t>(std::floor(position * kPhases + 0.5));
        const std::int64_t base = index / static_cast<std::int64_t>(kPhases) - kCentre;
        const std::size_t phase = static_cast<std::size_t>(index) % kPhases;
        assert(base >= 0);
        const std::size_t pair = static_cast<std::size_t>(base) / 2;
        assert(x.even.size() >= pair + kGroup + kTaps / 2 && x.odd.size() >= pair + kGroup + kTaps / 2);
        const Iq* a = base % 2 ? x.odd.data() + pair : x.even.data() + pair;
        const Iq* b = base % 2 ? x.even.data() + pair + 1 : x.odd.data() + pair;
        HWY_DYNAMIC_DISPATCH(ReadGroup)
        (reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b), taps_.data() + phase * kTaps,
         reinterpret_cast<float*>(symbols.data() + i));
    }
}

}  // namespace tidemill::dsp
#endif
