#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/lag_correlation.cpp"
#include "tidemill/dsp/lag_correlation.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t correlate_lags(const float*, std::size_t, const LagSet&, Iq*, float*) {
    return 0;
}

#else

// Four lags at a time: eight accumulators live in registers on every target.
constexpr std::size_t kLagsAtOnce = 4;

std::size_t correlate_lags(const float* x, std::size_t floats, const LagSet& lags, Iq* sums, float* power) {
    const hn::ScalableTag<float> d;
    using Vec = hn::Vec<decltype(d)>;
    const std::size_t width = hn::Lanes(d), hop = 2 * lags.spacing;
    const std::size_t whole = floats / width * width;
    // Odd lanes hold re * im', even ones im * re': their difference is the imaginary part.
    const auto imaginary = [&](Vec v) HWY_ATTR {
        return hn::GetLane(hn::SumOfLanes(d, hn::OddEven(v, hn::Neg(v))));
    };
    Vec squares = hn::Zero(d);
    for (std::size_t n = 0; n < whole; n += width) {
        const Vec a = hn::LoadU(d, x + n);
        squares = hn::MulAdd(a, a, squares);
    }
    *power = hn::GetLane(hn::SumOfLanes(d, squares));
    for (std::size_t lag = 0; lag < lags.count; lag += kLagsAtOnce) {
        Vec r0 = hn::Zero(d), r1 = r0, r2 = r0, r3 = r0, i0 = r0, i1 = r0, i2 = r0, i3 = r0;
        const float* later = x + 2 * lags.lag(lag);
        for (std::size_t n = 0; n < whole; n += width, later += width) {
            const Vec a = hn::LoadU(d, x + n), swapped = hn::Reverse2(d, a);
            const Vec b0 = hn::LoadU(d, later), b1 = hn::LoadU(d, later + hop),
                      b2 = hn::LoadU(d, later + 2 * hop), b3 = hn::LoadU(d, later + 3 * hop);
            r0 = hn::MulAdd(a, b0, r0);
            r1 = hn::MulAdd(a, b1, r1);
            r2 = hn::MulAdd(a, b2, r2);
            r3 = hn::MulAdd(a, b3, r3);
            i0 = hn::MulAdd(swapped, b0, i0);
            i1 = hn::MulAdd(swapped, b1, i1);
            i2 = hn::MulAdd(swapped, b2, i2);
            i3 = hn::MulAdd(swapped, b3, i3);
        }
        sums[lag] = {hn::GetLane(hn::SumOfLanes(d, r0)), imaginary(i0)};
        sums[lag + 1] = {hn::GetLane(hn::SumOfLanes(d, r1)), imaginary(i1)};
        sums[lag + 2] = {hn::GetLane(hn::SumOfLanes(d, r2)), imaginary(i2)};
        sums[lag + 3] = {hn::GetLane(hn::SumOfLanes(d, r3)), imaginary(i3)};
    }
    return whole / 2;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(correlate_lags);

LagCorrelation lag_correlation(std::span<const Iq> x, std::size_t count, const LagSet& lags) {
    assert(lags.count % 4 == 0 && lags.count > 0 && lags.count <= kMaxLags);
    assert(x.size() >= count + lags.reach());
    std::array<Iq, kMaxLags> sums{};
    float power = 0.0F;
    const std::size_t done = HWY_DYNAMIC_DISPATCH(correlate_lags)(reinterpret_cast<const float*>(x.data()),
                                                                  2 * count, lags, sums.data(), &power);
    LagCorrelation result{.power = static_cast<double>(power)};
    for (std::size_t n = done; n < count; ++n) result.power += static_cast<double>(std::norm(x[n]));
    for (std::size_t l = 0; l < lags.count; ++l) {
        result.sums[l] = sums[l];
        for (std::size_t n = done; n < count; ++n) result.sums[l] += std::conj(x[n]) * x[n + lags.lag(l)];
    }
    return result;
}

}  // namespace tidemill::dsp
#endif
