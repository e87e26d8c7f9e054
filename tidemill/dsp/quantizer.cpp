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
namespace tidemill::dsp::detail {

// What 0.0 and 1.0 become.
template <typename Integer>
inline constexpr float kCentre = std::is_unsigned_v<Integer> ? 127.5F : 0.0F;
template <typename Integer>
inline constexpr float kMost = static_cast<float>(std::numeric_limits<Integer>::max()) - kCentre<Integer>;

/// How many floats are done, and how many of their samples were limited.
struct Quantized {
    std::size_t floats = 0;
    std::uint64_t limited = 0;
};

}  // namespace tidemill::dsp::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

template <typename Integer>
detail::Quantized quantize_vectors(const float*, std::size_t, float, Integer*) {
    return {};
}

#else

template <typename Integer>
detail::Quantized quantize_vectors(const float* x, std::size_t floats, float gain, Integer* to) {
    detail::Quantized done;
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> whole;
    const hn::Rebind<Integer, decltype(d)> narrow;
    const hn::Repartition<std::uint64_t, decltype(d)> pair;
    const auto scale = hn::Set(d, gain * detail::kMost<Integer>);
    const auto most = hn::Set(d, detail::kMost<Integer>);
    const auto centre = hn::Set(d, detail::kCentre<Integer>);
    for (; done.floats + hn::Lanes(d) <= floats; done.floats += hn::Lanes(d)) {
        const auto scaled = hn::Mul(hn::LoadU(d, x + done.floats), scale);
        const auto beyond = hn::Not(hn::Le(hn::Abs(scaled), most));  // so that a NaN counts as well
        if (!hn::AllFalse(d, beyond)) {
            const auto parts = hn::BitCast(pair, hn::VecFromMask(d, beyond));
            done.limited += hn::CountTrue(pair, hn::Ne(parts, hn::Zero(pair)));
        }
        const auto number = hn::IfThenElseZero(hn::Eq(scaled, scaled), scaled);
        const auto within = hn::Min(hn::Max(number, hn::Neg(most)), most);
        const auto rounded = hn::BitCast(whole, hn::NearestInt(hn::Add(within, centre)));
        hn::StoreU(hn::DemoteTo(narrow, rounded), narrow, to + done.floats);
    }
    return done;
}

#endif

detail::Quantized ToI8(const float* x, std::size_t floats, float gain, std::int8_t* to) {
    return quantize_vectors(x, floats, gain, to);
}
detail::Quantized ToU8(const float* x, std::size_t floats, float gain, std::uint8_t* to) {
    return quantize_vectors(x, floats, gain, to);
}
detail::Quantized ToI16(const float* x, std::size_t floats, float gain, std::int16_t* to) {
    return quantize_vectors(x, floats, gain, to);
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(ToI8);
HWY_EXPORT(ToU8);
HWY_EXPORT(ToI16);

namespace {

// What the vectors left.
template <typename Integer>
std::uint64_t finish(const float* x, std::size_t floats, float gain, Integer* to, detail::Quantized done) {
    constexpr float kMost = detail::kMost<Integer>;
    for (; done.floats < floats; done.floats += 2) {
        bool limited = false;
        for (std::size_t part = done.floats; part < done.floats + 2; ++part) {
            const float scaled = x[part] * (gain * kMost);
            limited |= !(std::abs(scaled) <= kMost);
            const float within = std::isnan(scaled) ? 0.0F : std::clamp(scaled, -kMost, kMost);
            to[part] = static_cast<Integer>(std::lrint(within + detail::kCentre<Integer>));
        }
        done.limited += limited ? 1U : 0U;
    }
    return done.limited;
}

}  // namespace

std::uint64_t quantize(std::span<const Iq> samples, float gain, std::span<std::int8_t> to) {
    assert(to.size() == 2 * samples.size());
    const auto* x = reinterpret_cast<const float*>(samples.data());
    return finish(x, to.size(), gain, to.data(), HWY_DYNAMIC_DISPATCH(ToI8)(x, to.size(), gain, to.data()));
}

std::uint64_t quantize(std::span<const Iq> samples, float gain, std::span<std::uint8_t> to) {
    assert(to.size() == 2 * samples.size());
    const auto* x = reinterpret_cast<const float*>(samples.data());
    return finish(x, to.size(), gain, to.data(), HWY_DYNAMIC_DISPATCH(ToU8)(x, to.size(), gain, to.data()));
}

std::uint64_t quantize(std::span<const Iq> samples, float gain, std::span<std::int16_t> to) {
    assert(to.size() == 2 * samples.size());
    const auto* x = reinterpret_cast<const float*>(samples.data());
    return finish(x, to.size(), gain, to.data(), HWY_DYNAMIC_DISPATCH(ToI16)(x, to.size(), gain, to.data()));
}

}  // namespace tidemill::dsp
#endif
