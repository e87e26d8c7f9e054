#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sign_interpolator.cpp"
#include "tidemill/dsp/sign_interpolator.hpp"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/internal/sign_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Vectors of one part's outputs that are added up side by side: with both parts, and two sums for each, all
// stay in registers.
constexpr std::size_t kRow = internal::kSignRow<float>;
constexpr std::size_t kWidth = hn::MaxLanes(hn::CappedTag<float, kRow>());
constexpr std::size_t kAbreast = HWY_MIN(std::size_t{2}, kRow / kWidth);

// What the inputs of a block and of its history, of which there are so many groups in pairs, add to some of
// its outputs.
HWY_INLINE void sum_some_rows(const std::uint32_t* places, std::size_t pairs, float magnitude,
                              const float* rows, float* out) {
    const hn::CappedTag<float, kRow> d;
    using Vec = hn::Vec<decltype(d)>;
    const auto* at = reinterpret_cast<const std::uint8_t*>(rows);
    const auto load = [&](const std::uint8_t* row, std::size_t v)
                          HWY_ATTR { return hn::Load(d, reinterpret_cast<const float*>(row) + v * kWidth); };
    Vec re[2][kAbreast], im[2][kAbreast];
    for (std::size_t v = 0; v < kAbreast; ++v) re[0][v] = re[1][v] = im[0][v] = im[1][v] = hn::Zero(d);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        HWY_UNROLL(2)
        for (std::size_t i = 0; i < 2; ++i, at += internal::kSignGroupBytes) {
            const std::uint8_t* re_row = at + internal::re_byte(places[2 * pair + i]);
            const std::uint8_t* im_row = at + internal::im_byte(places[2 * pair + i]);
            HWY_UNROLL(2)
            for (std::size_t v = 0; v < kAbreast; ++v) {
                re[i][v] = hn::Add(re[i][v], load(re_row, v));
                im[i][v] = hn::Add(im[i][v], load(im_row, v));
            }
        }
    }
    const auto scale = hn::Set(d, magnitude);
    for (std::size_t v = 0; v < kAbreast; ++v) {
        hn::StoreInterleaved2(hn::Mul(hn::Add(re[0][v], re[1][v]), scale),
                              hn::Mul(hn::Add(im[0][v], im[1][v]), scale), d, out + 2 * v * kWidth);
    }
}

void sum_rows(const internal::SignPlaces& places, std::size_t blocks, std::size_t pairs, float magnitude,
              const float* rows, float* out) {
    constexpr std::size_t kGroups = internal::kSignBlock<float> / internal::kSignGroup;
    for (std::size_t block = 0; block < blocks; ++block, out += 2 * kRow) {
        for (std::size_t at = 0; at < kRow; at += kAbreast * kWidth) {
            sum_some_rows(&places.groups[kGroups * block], pairs, magnitude, rows + at, out + 2 * at);
        }
    }
}

}  // namespace
}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(sum_rows);

namespace {

constexpr std::size_t kBlock = internal::kSignBlock<float>;

}  // namespace

SignInterpolator::SignInterpolator(std::span<const float> taps) : taps_(taps.size() / kPhases) {
    assert(taps_ > 0 && taps_ <= kMostTaps && taps.size() == kPhases * taps_);
    const auto rows = internal::sign_rows(taps, kBlock);
    rows_.assign(rows.begin(), rows.end());
}

std::size_t SignInterpolator::process(std::span<const Iq> x, std::span<Iq> out) const {
    assert(x.size() >= taps_ - 1 && out.size() == (x.size() - (taps_ - 1)) * kPhases);
    if (x.empty()) return 0;
    const float magnitude = std::abs(x[0].real());
    const std::size_t history = internal::sign_history(taps_);
    const auto make = [&](const internal::SignPlaces& places, std::size_t done, std::size_t blocks) {
        HWY_DYNAMIC_DISPATCH(sum_rows)
        (places, blocks, (kBlock + history) / internal::kSignStep, magnitude, rows_.data(),
         reinterpret_cast<float*>(&out[kPhases * kBlock * done]));
    };
    return kBlock * internal::by_sign_pieces<float>(x, history, magnitude, make);
}

}  // namespace tidemill::dsp
#endif
