#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/byte_samples.cpp"
#include "tidemill/dsp/byte_samples.hpp"

#include <algorithm>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether whole vectors of bytes hold one at an end of its range; says how many were looked at.
bool touches_an_end(const std::int8_t* x, std::size_t count, std::size_t* looked_at) {
    const hn::ScalableTag<std::int8_t> d;
    const auto low = hn::Set(d, std::int8_t{-128}), high = hn::Set(d, std::int8_t{127});
    auto found = hn::MaskFromVec(hn::Zero(d));
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d)) {
        const auto v = hn::LoadU(d, x + n);
        found = hn::Or(found, hn::Or(hn::Eq(v, low), hn::Eq(v, high)));
    }
    *looked_at = n;
    return !hn::AllFalse(d, found);
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(touches_an_end);

namespace {

constexpr std::size_t kLookedAtOnce = 1024;

bool is_clipped(Ci8 x) {
    const auto at_an_end = [](std::int8_t part) { return part == -128 || part == 127; };
    return at_an_end(x.re) || at_an_end(x.im);
}

}  // namespace

std::uint64_t count_clipped(std::span<const Ci8> samples) {
    std::uint64_t clipped = 0;
    while (!samples.empty()) {
        const auto some = samples.first(std::min(kLookedAtOnce, samples.size()));
        std::size_t looked_at = 0;
        const bool touched = HWY_DYNAMIC_DISPATCH(touches_an_end)(
            reinterpret_cast<const std::int8_t*>(some.data()), 2 * some.size(), &looked_at);
        const auto doubtful = touched ? some : some.subspan(looked_at / 2);
        clipped += static_cast<std::uint64_t>(std::ranges::count_if(doubtful, is_clipped));
        samples = samples.subspan(some.size());
    }
    return clipped;
}

}  // namespace tidemill::dsp
#endif
