#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/iq_balance.cpp"
#include "tidemill/dsp/iq_balance.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/dot_product_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

IqMoments moments_of_iq(const float* x, std::size_t floats) {
    const hn::ScalableTag<float> d;
    const std::size_t width = 2 * hn::Lanes(d);
    auto sum_i = hn::Zero(d), sum_q = sum_i, power_i = sum_i, power_q = sum_i, product = sum_i;
    std::size_t n = 0;
    for (; n + width <= floats; n += width) {
        hn::Vec<decltype(d)> i, q;
        hn::LoadInterleaved2(d, x + n, i, q);
        sum_i = hn::Add(sum_i, i);
        sum_q = hn::Add(sum_q, q);
        power_i = hn::MulAdd(i, i, power_i);
        power_q = hn::MulAdd(q, q, power_q);
        product = hn::MulAdd(i, q, product);
    }
    const auto total = [&](auto lanes) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, lanes))); };
    double i = total(sum_i), q = total(sum_q), ii = total(power_i), qq = total(power_q), iq = total(product);
    for (; n < floats; n += 2) {
        const double a = x[n], b = x[n + 1];
        i += a;
        q += b;
        ii += a * a;
        qq += b * b;
        iq += a * b;
    }
    return {static_cast<double>(floats) / 2, ii + qq, {i, q}, {ii - qq, 2 * iq}};
}

// A sample's bytes are a number of 16 bits, of which the imaginary part is the upper half.
IqMoments moments_of_bytes(const std::int8_t* x, std::size_t bytes) {
    std::int64_t i = 0, q = 0, ii = 0, qq = 0, iq = 0;
    std::size_t n = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::int16_t> d;
    const hn::Repartition<std::int8_t, decltype(d)> narrow;
    const auto one = hn::Set(d, 1);
    DotProduct<decltype(d)> sum_i, sum_q, power_i, power_q, product;
    for (; n + hn::Lanes(narrow) <= bytes; n += hn::Lanes(narrow)) {
        const auto samples = hn::BitCast(d, hn::LoadU(narrow, x + n));
        const auto re = hn::ShiftRight<8>(hn::ShiftLeft<8>(samples)), im = hn::ShiftRight<8>(samples);
        sum_i.add(re, one);
        sum_q.add(im, one);
        power_i.add(re, re);
        power_q.add(im, im);
        product.add(re, im);
    }
    i = sum_i.all(), q = sum_q.all(), ii = power_i.all(), qq = power_q.all(), iq = product.all();
#endif
    for (; n < bytes; n += 2) {
        const std::int64_t a = x[n], b = x[n + 1];
        i += a;
        q += b;
        ii += a * a;
        qq += b * b;
        iq += a * b;
    }
    const auto number = [](std::int64_t value, double scale) { return static_cast<double>(value) / scale; };
    constexpr double kFullScale = 128, kSquare = kFullScale * kFullScale;
    return {static_cast<double>(bytes) / 2,
            number(ii + qq, kSquare),
            {number(i, kFullScale), number(q, kFullScale)},
            {number(ii - qq, kSquare), number(2 * iq, kSquare)}};
}

// Each part of a sample becomes a weighted sum of both parts without their offset.
void correct_floats(const float* x, std::size_t floats, Iq offset, Iq image, float* y) {
    const hn::ScalableTag<float> d;
    const std::size_t width = 2 * hn::Lanes(d);
    const float own_i = 1 - image.real(), own_q = 1 + image.real(), other = -image.imag();
    std::size_t n = 0;
    for (; n + width <= floats; n += width) {
        hn::Vec<decltype(d)> i, q;
        hn::LoadInterleaved2(d, x + n, i, q);
        i = hn::Sub(i, hn::Set(d, offset.real()));
        q = hn::Sub(q, hn::Set(d, offset.imag()));
        const auto crossed_i = hn::Mul(q, hn::Set(d, other)), crossed_q = hn::Mul(i, hn::Set(d, other));
        hn::StoreInterleaved2(hn::MulAdd(i, hn::Set(d, own_i), crossed_i),
                              hn::MulAdd(q, hn::Set(d, own_q), crossed_q), d, y + n);
    }
    for (; n < floats; n += 2) {
        const float i = x[n] - offset.real(), q = x[n + 1] - offset.imag();
        y[n] = own_i * i + other * q;
        y[n + 1] = own_q * q + other * i;
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(moments_of_iq);
HWY_EXPORT(moments_of_bytes);
HWY_EXPORT(correct_floats);

IqMoments iq_moments(std::span<const Iq> x) {
    return HWY_DYNAMIC_DISPATCH(moments_of_iq)(reinterpret_cast<const float*>(x.data()), 2 * x.size());
}

IqMoments iq_moments(std::span<const Ci8> x) {
    return HWY_DYNAMIC_DISPATCH(moments_of_bytes)(reinterpret_cast<const std::int8_t*>(x.data()),
                                                  2 * x.size());
}

// A signal s whose square has mean 0 gives a s + b conj(s), with 2 a b / (|a|^2 + |b|^2) as its square's mean
// over its power, and b / conj(a) as its image.
IqCorrection iq_correction(const IqMoments& moments) {
    if (moments.count == 0) return {};
    const std::complex<double> mean = moments.sum / moments.count;
    const double power = moments.power / moments.count - std::norm(mean);
    if (power <= 0) return {Iq(mean), {}};
    const std::complex<double> square = (moments.square / moments.count - mean * mean) / power;
    const double rest = std::sqrt(std::max(0.0, 1 - std::norm(square)));
    return {Iq(mean), Iq(square / (1 + rest))};
}

void correct_iq(std::span<const Iq> x, const IqCorrection& correction, std::span<Iq> corrected) {
    assert(corrected.size() == x.size());
    HWY_DYNAMIC_DISPATCH(correct_floats)
    (reinterpret_cast<const float*>(x.data()), 2 * x.size(), correction.offset, correction.image,
     reinterpret_cast<float*>(corrected.data()));
}

}  // namespace tidemill::dsp
#endif
