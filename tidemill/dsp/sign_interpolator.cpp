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
#include "tidemill/dsp/internal/sign_sums_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Sums = SignSums<float>;

void sum_rows(const internal::SignPositions& places, std::size_t blocks, std::size_t pairs, float magnitude,
              const float* rows, float* out) {
    const Sums::D d;
    const auto scale = hn::Set(d, magnitude);
    Sums::make(places, blocks, pairs, rows, [&](Sums::Vec re, Sums::Vec im, std::size_t at) HWY_ATTR {
        hn::StoreInterleaved2(hn::Mul(re, scale), hn::Mul(im, scale), d, out + 2 * at);
    });
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
    const auto make = [&](const internal::SignPositions& places, std::size_t done, std::size_t blocks) {
        HWY_DYNAMIC_DISPATCH(sum_rows)
        (places, blocks, (kBlock + history) / internal::kSignStep, magnitude, rows_.data(),
         reinterpret_cast<float*>(&out[kPhases * kBlock * done]));
    };
    return kBlock * internal::by_sign_pieces<float>(x, history, magnitude, make);
}

}  // namespace tidemill::dsp
#endif
