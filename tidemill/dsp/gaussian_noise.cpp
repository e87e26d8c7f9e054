#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/gaussian_noise.cpp"
#include "tidemill/dsp/gaussian_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// Must follow highway.h, and is read once per instruction set.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Random halves of 32 bits to floats, rounded once, as a conversion in one step would.
template <class D, class V = hn::Vec<D>>
V to_float(D d, const std::uint32_t* words) {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto word = hn::LoadU(du, words);
    const auto high = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<16>(word)));
    const auto low = hn::ConvertTo(d, hn::BitCast(di, hn::And(word, hn::Set(du, 0xffffU))));
    return hn::MulAdd(high, hn::Set(d, 65536.0F), low);
}

// Writes noise of interleaved parts for `count` samples, rounded up to whole vectors.
void make_noise(const std::uint32_t* radii, const std::uint32_t* angles, std::size_t count, float amplitude,
                float* noise) {
    const hn::ScalableTag<float> d;
    for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
        const auto half_up = hn::Add(to_float(d, radii + n), hn::Set(d, 0.5F));
        const auto uniform = hn::Min(hn::Mul(half_up, hn::Set(d, 0x1p-32F)), hn::Set(d, 1.0F));
        const auto log = hn::Min(hn::Log(d, uniform), hn::Zero(d));
        const auto radius = hn::Mul(hn::Sqrt(hn::Neg(log)), hn::Set(d, amplitude));
        const auto angle = hn::Mul(to_float(d, angles + n), hn::Set(d, 0x1p-32F * 6.2831853F));
        const auto re = hn::Mul(radius, hn::Cos(d, angle));
        const auto im = hn::Mul(radius, hn::Sin(d, angle));
        hn::StoreInterleaved2(re, im, d, noise + 2 * n);
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(make_noise);

namespace {

constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15U;

// Mixing function of a counter-based generator (Steele, Lea, Flood: SplitMix64, 2014).
std::uint64_t mix(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

std::uint64_t start_of(std::uint64_t seed) {
    return mix(seed * kGoldenRatio);
}

std::uint64_t bits_at(std::uint64_t start, std::uint64_t n) {
    return mix(start + (n + 1) * kGoldenRatio);
}

}  // namespace

Iq gaussian_noise_at(std::uint64_t seed, std::uint64_t n) {
    constexpr float kUnit = 0x1p-32F;
    const std::uint64_t bits = bits_at(start_of(seed), n);
    // Box and Muller; half a step keeps the logarithm's argument above 0.
    const float uniform = (static_cast<float>(bits >> 32) + 0.5F) * kUnit;
    const float angle = static_cast<float>(bits & 0xffffffffU) * kUnit * 2.0F * std::numbers::pi_v<float>;
    const float radius = std::sqrt(-std::log(std::min(uniform, 1.0F)));
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

void add_gaussian_noise(std::uint64_t seed, std::uint64_t n, float amplitude, std::span<Iq> samples) {
    constexpr std::size_t kStretch = 512;  // a multiple of all vectors
    alignas(64) std::array<std::uint32_t, kStretch> radii{};
    alignas(64) std::array<std::uint32_t, kStretch> angles{};
    alignas(64) std::array<Iq, kStretch> noise;
    const std::uint64_t start = start_of(seed);
    while (!samples.empty()) {
        const std::size_t count = std::min(kStretch, samples.size());
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t bits = bits_at(start, n + i);
            radii[i] = static_cast<std::uint32_t>(bits >> 32);
            angles[i] = static_cast<std::uint32_t>(bits);
        }
        HWY_DYNAMIC_DISPATCH(make_noise)
        (radii.data(), angles.data(), count, amplitude, reinterpret_cast<float*>(noise.data()));
        for (std::size_t i = 0; i < count; ++i) samples[i] += noise[i];
        samples = samples.subspan(count);
        n += count;
    }
}

}  // namespace tidemill::dsp
#endif
