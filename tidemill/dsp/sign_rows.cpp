#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sign_rows.cpp"
#include "tidemill/dsp/internal/sign_rows.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_SIGN_ROWS_ONCE
#define TIDEMILL_DSP_SIGN_ROWS_ONCE
namespace tidemill::dsp::internal {

/// Places of a group, by the signs of its real and imaginary parts in turn.
inline constexpr auto kPlaces = [] {
    std::array<std::uint32_t, kSignPatterns * kSignPatterns> places{};
    for (std::size_t signs = 0; signs < places.size(); ++signs) {
        std::size_t re = 0, im = 0;
        for (std::size_t i = 0; i < kSignGroup; ++i) {
            re |= (signs >> 2 * i & 1) << i;
            im |= (signs >> (2 * i + 1) & 1) << i;
        }
        places[signs] = sign_place(kSignRowBytes * re, kSignRowBytes * im);
    }
    return places;
}();

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Number of the parts of a step's samples.
constexpr std::size_t kParts = 2 * internal::kSignStep;

bool find_places(const float* x, std::size_t samples, float magnitude, std::uint32_t* places) {
    const hn::CappedTag<float, kParts> d;
    const auto wanted = hn::Set(d, magnitude);
    auto different = hn::MaskFromVec(hn::Zero(d));
    for (std::size_t n = 0; n < samples; n += internal::kSignStep, x += kParts, places += 2) {
        std::array<std::uint8_t, kParts / 8> signs{};
        for (std::size_t at = 0; at < kParts; at += hn::Lanes(d)) {
            const auto v = hn::LoadU(d, x + at);
            different = hn::Or(different, hn::Ne(hn::Abs(v), wanted));
            std::array<std::uint8_t, 8> some{};
            hn::StoreMaskBits(d, hn::Lt(v, hn::Zero(d)), some.data());
            for (std::size_t byte = at / 8; byte <= (at + hn::Lanes(d) - 1) / 8; ++byte)
                signs[byte] |= static_cast<std::uint8_t>(some[byte - at / 8] << at % 8);
        }
        for (std::size_t group = 0; group < signs.size(); ++group)
            places[group] = internal::kPlaces[signs[group]];
    }
    return hn::AllFalse(d, different);
}

}  // namespace
}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(find_places);

namespace internal {

namespace {

// Contribution of inputs `first` to `first` + 3 of a block to one phase of its sample `at`.
double contribution(std::span<const float> phase, std::size_t first, std::size_t pattern, std::size_t at) {
    double sum = 0;
    for (std::size_t bit = 0; bit < kSignGroup; ++bit) {
        const std::size_t input = first + bit;
        if (input < at || input - at >= phase.size()) continue;
        const double tap = phase[input - at];
        sum += (pattern >> bit & 1U) != 0 ? -tap : tap;
    }
    return sum;
}

}  // namespace

std::vector<double> sign_rows(std::span<const float> taps, std::size_t block) {
    assert(taps.size() % kSignPhases == 0);
    const std::size_t of_phase = taps.size() / kSignPhases;
    std::vector<double> rows;
    for (std::size_t first = 0; first < block + sign_history(of_phase); first += kSignGroup) {
        for (std::size_t pattern = 0; pattern < kSignPatterns; ++pattern) {
            for (std::size_t output = 0; output < block * kSignPhases; ++output) {
                const auto phase = taps.subspan(output % kSignPhases * of_phase, of_phase);
                rows.push_back(contribution(phase, first, pattern, output / kSignPhases));
            }
        }
    }
    return rows;
}

bool find_sign_places(std::span<const Iq> x, float magnitude, SignPositions& places) {
    assert(x.size() % kSignStep == 0 &&
           x.size() <= SignPositions::kPieceSamples + SignPositions::kMostHistory);
    return HWY_DYNAMIC_DISPATCH(find_places)(reinterpret_cast<const float*>(x.data()), x.size(), magnitude,
                                             places.groups.data());
}

}  // namespace internal
}  // namespace tidemill::dsp
#endif
