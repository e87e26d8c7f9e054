#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sign_interpolator.cpp"
#include "tidemill/dsp/sign_interpolator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_SIGN_INTERPOLATOR_ONCE
#define TIDEMILL_DSP_SIGN_INTERPOLATOR_ONCE
namespace tidemill::dsp::internal {

inline constexpr std::size_t kBlock = 8;  // samples for which outputs are made at once: a byte of signs
inline constexpr std::size_t kGroup = 4;  // samples that are looked up at once
inline constexpr std::size_t kPatterns = 1U << kGroup;
inline constexpr std::size_t kRow = kBlock * SignInterpolator::kPhases;  // outputs of a block
inline constexpr std::size_t kPieceBlocks = 64;                          // whose signs are packed at once

/// For each group of samples of a piece and of what reaches its last block: which of its parts are negative,
/// as where in a table of rows the one for that stands.
struct Signs {
    using Places =
        std::array<std::uint16_t, kBlock / kGroup*(kPieceBlocks + SignInterpolator::kMostTaps / kBlock)>;
    Places re;
    Places im;
};

/// Of both groups of a block, by the signs of its samples.
inline constexpr auto kPlaces = [] {
    std::array<std::array<std::uint16_t, kBlock / kGroup>, 1U << kBlock> places{};
    for (std::size_t signs = 0; signs < places.size(); ++signs)
        places[signs] = {static_cast<std::uint16_t>(kRow * (signs % kPatterns)),
                         static_cast<std::uint16_t>(kRow * (signs / kPatterns))};
    return places;
}();

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class M>
unsigned mask_bits(D d, M mask) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    return bytes[0];
}

// False when a part has another magnitude.
bool pack_signs(const float* x, std::size_t blocks, float magnitude, internal::Signs& signs) {
    const hn::CappedTag<float, internal::kBlock> d;
    const auto wanted = hn::Set(d, magnitude);
    auto different = hn::MaskFromVec(hn::Zero(d));
    for (std::size_t block = 0; block < blocks; ++block) {
        unsigned re_bits = 0, im_bits = 0;
        for (std::size_t at = 0; at < internal::kBlock; at += hn::Lanes(d), x += 2 * hn::Lanes(d)) {
            hn::Vec<decltype(d)> re, im;
            hn::LoadInterleaved2(d, x, re, im);
            different = hn::Or(different, hn::Or(hn::Ne(hn::Abs(re), wanted), hn::Ne(hn::Abs(im), wanted)));
            re_bits |= mask_bits(d, hn::Lt(re, hn::Zero(d))) << at;
            im_bits |= mask_bits(d, hn::Lt(im, hn::Zero(d))) << at;
        }
        std::memcpy(&signs.re[2 * block], internal::kPlaces[re_bits].data(), sizeof(internal::kPlaces[0]));
        std::memcpy(&signs.im[2 * block], internal::kPlaces[im_bits].data(), sizeof(internal::kPlaces[0]));
    }
    return hn::AllFalse(d, different);
}

// Vectors of one part's outputs that are added up side by side: with both parts, and two sums for each, all
// stay in registers.
constexpr std::size_t kWidth = hn::MaxLanes(hn::CappedTag<float, internal::kRow>());
constexpr std::size_t kAbreast = HWY_MIN(std::size_t{2}, internal::kRow / kWidth);

// What the inputs of a block and of its history, of which there are so many groups in pairs, add to some of
// its outputs.
HWY_INLINE void sum_some_rows(const std::uint16_t* re_places, const std::uint16_t* im_places,
                              std::size_t pairs, float magnitude, const float* rows, float* out) {
    const hn::CappedTag<float, internal::kRow> d;
    using Vec = hn::Vec<decltype(d)>;
    constexpr std::size_t kNext = internal::kPatterns * internal::kRow;
    Vec re[2][kAbreast], im[2][kAbreast];
    for (std::size_t v = 0; v < kAbreast; ++v) re[0][v] = re[1][v] = im[0][v] = im[1][v] = hn::Zero(d);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        HWY_UNROLL(2)
        for (std::size_t i = 0; i < 2; ++i, rows += kNext) {
            const float* re_row = rows + re_places[2 * pair + i];
            const float* im_row = rows + im_places[2 * pair + i];
            HWY_UNROLL(2)
            for (std::size_t v = 0; v < kAbreast; ++v) {
                re[i][v] = hn::Add(re[i][v], hn::Load(d, re_row + v * kWidth));
                im[i][v] = hn::Add(im[i][v], hn::Load(d, im_row + v * kWidth));
            }
        }
    }
    const auto scale = hn::Set(d, magnitude);
    for (std::size_t v = 0; v < kAbreast; ++v) {
        hn::StoreInterleaved2(hn::Mul(hn::Add(re[0][v], re[1][v]), scale),
                              hn::Mul(hn::Add(im[0][v], im[1][v]), scale), d, out + 2 * v * kWidth);
    }
}

void sum_rows(const internal::Signs& signs, std::size_t blocks, std::size_t pairs, float magnitude,
              const float* rows, float* out) {
    for (std::size_t block = 0; block < blocks; ++block, out += 2 * internal::kRow) {
        for (std::size_t at = 0; at < internal::kRow; at += kAbreast * kWidth) {
            sum_some_rows(&signs.re[2 * block], &signs.im[2 * block], pairs, magnitude, rows + at,
                          out + 2 * at);
        }
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(pack_signs);
HWY_EXPORT(sum_rows);

namespace {

using internal::kBlock;
using internal::kGroup;

// Blocks that the history takes, rounded up.
std::size_t history_blocks(std::size_t taps) {
    return (taps - 1 + kBlock - 1) / kBlock;
}

// What inputs `first` to `first` + 3 of a block, of unit magnitude, add to one phase of its sample `at`.
float contribution(std::span<const float> phase, std::size_t first, std::size_t pattern, std::size_t at) {
    double sum = 0;
    for (std::size_t bit = 0; bit < kGroup; ++bit) {
        const std::size_t input = first + bit;
        if (input < at || input - at >= phase.size()) continue;
        const double tap = phase[input - at];
        sum += (pattern >> bit & 1U) != 0 ? -tap : tap;
    }
    return static_cast<float>(sum);
}

}  // namespace

SignInterpolator::SignInterpolator(std::span<const float> taps) : taps_(taps.size() / kPhases) {
    assert(taps_ > 0 && taps_ <= kMostTaps && taps.size() == kPhases * taps_);
    const std::size_t inputs = (1 + history_blocks(taps_)) * kBlock;
    for (std::size_t first = 0; first < inputs; first += kGroup) {
        for (std::size_t pattern = 0; pattern < internal::kPatterns; ++pattern) {
            for (std::size_t output = 0; output < internal::kRow; ++output) {
                const auto phase = taps.subspan(output % kPhases * taps_, taps_);
                rows_.push_back(contribution(phase, first, pattern, output / kPhases));
            }
        }
    }
}

std::size_t SignInterpolator::process(std::span<const Iq> x, std::span<Iq> out) const {
    assert(x.size() >= taps_ - 1 && out.size() == (x.size() - (taps_ - 1)) * kPhases);
    const std::size_t before = history_blocks(taps_);
    const std::size_t count = x.size() / kBlock - std::min(x.size() / kBlock, before);
    const auto* from = reinterpret_cast<const float*>(x.data());
    auto* to = reinterpret_cast<float*>(out.data());
    const float magnitude = x.empty() ? 0.0F : std::abs(x[0].real());
    std::size_t done = 0;  // blocks, of `count`
    while (done < count) {
        const std::size_t blocks = std::min(internal::kPieceBlocks, count - done);
        internal::Signs signs;
        if (!HWY_DYNAMIC_DISPATCH(pack_signs)(from + 2 * kBlock * done, blocks + before, magnitude, signs)) {
            break;
        }
        HWY_DYNAMIC_DISPATCH(sum_rows)
        (signs, blocks, 1 + before, magnitude, rows_.data(), to + 2 * internal::kRow * done);
        done += blocks;
    }
    return kBlock * done;
}

}  // namespace tidemill::dsp
#endif
