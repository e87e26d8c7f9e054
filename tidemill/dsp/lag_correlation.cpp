#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/lag_correlation.cpp"
#define HWY_WANT_AVX3_DL  // for its dot products
#include "tidemill/dsp/lag_correlation.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/dot_product_inl.hpp"

#ifndef TIDEMILL_DSP_LAG_CORRELATION_ONCE
#define TIDEMILL_DSP_LAG_CORRELATION_ONCE
namespace tidemill::dsp::internal {

/// A complex number of whole parts.
struct Whole {
    std::int64_t re, im;

    Whole times_conjugate_of(const Whole& x) const { return {re * x.re + im * x.im, im * x.re - re * x.im}; }
    void add(const Whole& x) { re += x.re, im += x.im; }
};

// Samples whose sums 32 bits hold.
inline constexpr std::size_t kMostSamples = 32768;

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using internal::Whole;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t correlate_lags(const float*, std::size_t, const LagSet&, Iq*, float*) {
    return 0;
}
std::size_t correlate_numbers(const std::int16_t*, std::size_t, const LagSet&, Whole*, std::int64_t*) {
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
    for (std::size_t lag = 0; lag < lags.count; lag += kLagsAtOnce) {
        Vec r0 = hn::Zero(d), r1 = r0, r2 = r0, r3 = r0, i0 = r0, i1 = r0, i2 = r0, i3 = r0, squares = r0;
        const float* later = x + 2 * lags.lag(lag);
        for (std::size_t n = 0; n < whole; n += width, later += width) {
            const Vec a = hn::LoadU(d, x + n), swapped = hn::Reverse2(d, a);
            const Vec b0 = hn::LoadU(d, later), b1 = hn::LoadU(d, later + hop),
                      b2 = hn::LoadU(d, later + 2 * hop), b3 = hn::LoadU(d, later + 3 * hop);
            squares = hn::MulAdd(a, a, squares);
            r0 = hn::MulAdd(a, b0, r0);
            r1 = hn::MulAdd(a, b1, r1);
            r2 = hn::MulAdd(a, b2, r2);
            r3 = hn::MulAdd(a, b3, r3);
            i0 = hn::MulAdd(swapped, b0, i0);
            i1 = hn::MulAdd(swapped, b1, i1);
            i2 = hn::MulAdd(swapped, b2, i2);
            i3 = hn::MulAdd(swapped, b3, i3);
        }
        *power = hn::GetLane(hn::SumOfLanes(d, squares));
        sums[lag] = {hn::GetLane(hn::SumOfLanes(d, r0)), imaginary(i0)};
        sums[lag + 1] = {hn::GetLane(hn::SumOfLanes(d, r1)), imaginary(i1)};
        sums[lag + 2] = {hn::GetLane(hn::SumOfLanes(d, r2)), imaginary(i2)};
        sums[lag + 3] = {hn::GetLane(hn::SumOfLanes(d, r3)), imaginary(i3)};
    }
    return whole / 2;
}

// The same of whole numbers.
std::size_t correlate_numbers(const std::int16_t* x, std::size_t numbers, const LagSet& lags, Whole* sums,
                              std::int64_t* power) {
    const hn::ScalableTag<std::int16_t> d;
    using Dot = DotProduct<decltype(d)>;
    const std::size_t width = hn::Lanes(d), hop = 2 * lags.spacing;
    const std::size_t whole = numbers / width * width;
    for (std::size_t lag = 0; lag < lags.count; lag += kLagsAtOnce) {
        Dot r0, r1, r2, r3, i0, i1, i2, i3, squares;
        const std::int16_t* later = x + 2 * lags.lag(lag);
        for (std::size_t n = 0; n < whole; n += width, later += width) {
            const auto a = hn::LoadU(d, x + n), swapped = hn::Reverse2(d, a);
            const auto turned = hn::OddEven(swapped, hn::Neg(swapped));  // j a
            const auto b0 = hn::LoadU(d, later), b1 = hn::LoadU(d, later + hop),
                       b2 = hn::LoadU(d, later + 2 * hop), b3 = hn::LoadU(d, later + 3 * hop);
            squares.add(a, a);
            r0.add(a, b0);
            r1.add(a, b1);
            r2.add(a, b2);
            r3.add(a, b3);
            i0.add(turned, b0);
            i1.add(turned, b1);
            i2.add(turned, b2);
            i3.add(turned, b3);
        }
        *power = squares.all();
        sums[lag] = {r0.all(), i0.all()};
        sums[lag + 1] = {r1.all(), i1.all()};
        sums[lag + 2] = {r2.all(), i2.all()};
        sums[lag + 3] = {r3.all(), i3.all()};
    }
    return whole / 2;
}

#endif

void widen(const std::int8_t* x, std::size_t count, std::int16_t* numbers) {
    const hn::ScalableTag<std::int16_t> d;
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d))
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int8_t, decltype(d)>(), x + n)), d,
                   numbers + n);
    for (; n < count; ++n) numbers[n] = x[n];
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

using internal::kMostSamples;
using internal::Whole;

HWY_EXPORT(correlate_lags);
HWY_EXPORT(correlate_numbers);
HWY_EXPORT(widen);

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

LagCorrelation lag_correlation(std::span<const Ci8> x, std::size_t count, const LagSet& lags) {
    assert(lags.count % 4 == 0 && lags.count > 0 && lags.count <= kMaxLags && count <= kMostSamples);
    assert(x.size() >= count + lags.reach());
    AlignedVector<std::int16_t> numbers(2 * (count + lags.reach()));
    HWY_DYNAMIC_DISPATCH(widen)(&x.data()->re, numbers.size(), numbers.data());
    std::array<Whole, kMaxLags> sums{};
    std::int64_t power = 0;
    const std::size_t done =
        HWY_DYNAMIC_DISPATCH(correlate_numbers)(numbers.data(), 2 * count, lags, sums.data(), &power);
    const auto at = [&](std::size_t n) { return Whole{numbers[2 * n], numbers[2 * n + 1]}; };
    for (std::size_t n = done; n < count; ++n) power += at(n).times_conjugate_of(at(n)).re;
    constexpr double kUnit = 1.0 / (128 * 128);
    LagCorrelation result{.power = kUnit * static_cast<double>(power)};
    for (std::size_t l = 0; l < lags.count; ++l) {
        for (std::size_t n = done; n < count; ++n) sums[l].add(at(n + lags.lag(l)).times_conjugate_of(at(n)));
        result.sums[l] = {kUnit * static_cast<double>(sums[l].re), kUnit * static_cast<double>(sums[l].im)};
    }
    return result;
}

}  // namespace tidemill::dsp
#endif
