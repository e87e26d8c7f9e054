#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/quantizer.cpp"
#include "tidemill/dsp/quantizer.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_QUANTIZER_ONCE
#define TIDEMILL_DSP_QUANTIZER_ONCE
namespace tidemill::dsp::internal {

// Values of 0.0 and 1.0.
template <typename Integer>
inline constexpr float kCentre = std::is_unsigned_v<Integer> ? 127.5F : 0.0F;
template <typename Integer>
inline constexpr float kMost = static_cast<float>(std::numeric_limits<Integer>::max()) - kCentre<Integer>;

/// One sample: whether it was limited.
template <typename Integer>
bool quantize_sample(const float* x, float gain, Integer* to) {
    constexpr float kLimit = kMost<Integer>;
    bool limited = false;
    for (std::size_t part = 0; part < 2; ++part) {
        const float scaled = x[part] * (gain * kLimit);
        limited |= !(std::abs(scaled) <= kLimit);
        const float within = std::isnan(scaled) ? 0.0F : std::clamp(scaled, -kLimit, kLimit);
        to[part] = static_cast<Integer>(std::lrint(within + kCentre<Integer>));
    }
    return limited;
}

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Samples within full scale need no care; where one of a few vectors is not, they are done one by one.
template <typename Integer>
std::uint64_t quantize_all(const float* x, std::size_t floats, float gain, Integer* to) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<Integer, decltype(d)> narrow;
    const std::size_t width = hn::Lanes(d);
    const auto scale = hn::Set(d, gain * internal::kMost<Integer>);
    const auto most = hn::Set(d, internal::kMost<Integer>);
    const auto centre = hn::Set(d, internal::kCentre<Integer>);
    const auto is_within = [&](auto v) { return hn::Le(hn::Abs(v), most); };  // which a NaN is not
    const auto store = [&](auto v, Integer* place) {
        hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(hn::Add(v, centre))), narrow, place);
    };
    std::uint64_t limited = 0;
    std::size_t at = 0;
    for (; at + 4 * width <= floats; at += 4 * width) {
        const auto a = hn::Mul(hn::LoadU(d, x + at), scale), b = hn::Mul(hn::LoadU(d, x + at + width), scale),
                   c = hn::Mul(hn::LoadU(d, x + at + 2 * width), scale),
                   e = hn::Mul(hn::LoadU(d, x + at + 3 * width), scale);
        if (HWY_LIKELY(hn::AllTrue(
                d, hn::And(hn::And(is_within(a), is_within(b)), hn::And(is_within(c), is_within(e)))))) {
            store(a, to + at);
            store(b, to + at + width);
            store(c, to + at + 2 * width);
            store(e, to + at + 3 * width);
        } else {
            for (std::size_t i = at; i < at + 4 * width; i += 2) {
                limited += internal::quantize_sample(x + i, gain, to + i) ? 1U : 0U;
            }
        }
    }
    for (; at < floats; at += 2) limited += internal::quantize_sample(x + at, gain, to + at) ? 1U : 0U;
    return limited;
}

std::uint64_t to_i8(const float* x, std::size_t floats, float gain, std::int8_t* to) {
    return quantize_all(x, floats, gain, to);
}
std::uint64_t to_u8(const float* x, std::size_t floats, float gain, std::uint8_t* to) {
    return quantize_all(x, floats, gain, to);
}
std::uint64_t to_i16(const float* x, std::size_t floats, float gain, std::int16_t* to) {
    return quantize_all(x, floats, gain, to);
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(to_i8);
HWY_EXPORT(to_u8);
HWY_EXPORT(to_i16);

namespace {

std::uint64_t run(const float* x, std::size_t floats, float gain, std::int8_t* to) {
    return HWY_DYNAMIC_DISPATCH(to_i8)(x, floats, gain, to);
}
std::uint64_t run(const float* x, std::size_t floats, float gain, std::uint8_t* to) {
    return HWY_DYNAMIC_DISPATCH(to_u8)(x, floats, gain, to);
}
std::uint64_t run(const float* x, std::size_t floats, float gain, std::int16_t* to) {
    return HWY_DYNAMIC_DISPATCH(to_i16)(x, floats, gain, to);
}

}  // namespace

template <typename Integer>
std::uint64_t quantize(std::span<const Iq> samples, float gain, std::span<Integer> to) {
    assert(to.size() == 2 * samples.size());
    return run(reinterpret_cast<const float*>(samples.data()), to.size(), gain, to.data());
}

template std::uint64_t quantize(std::span<const Iq>, float, std::span<std::int8_t>);
template std::uint64_t quantize(std::span<const Iq>, float, std::span<std::uint8_t>);
template std::uint64_t quantize(std::span<const Iq>, float, std::span<std::int16_t>);

}  // namespace tidemill::dsp
#endif
