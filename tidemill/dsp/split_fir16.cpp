#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/split_fir16.cpp"
#include "tidemill/dsp/split_fir16.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_SPLIT_FIR16_ONCE
#define TIDEMILL_DSP_SPLIT_FIR16_ONCE
namespace tidemill::dsp::internal {

inline constexpr std::size_t kMostTapPairs = 64;
inline constexpr std::size_t kBlock16 = 16;   // outputs of each half that are made side by side
inline constexpr std::size_t kPiece16 = 512;  // samples of each half with one scale

/// What is added to it loses its fraction, rounded, and has its lower 16 bits where a float has them.
inline constexpr float kRounder = 1.5F * (1 << 23);

/// By which a pair of samples is multiplied that lies so many pairs behind an output: two taps in one number,
/// the earlier one in its lower half.
struct PackedTaps {
    using OfPairs = std::array<std::int32_t, kMostTapPairs + 1>;
    OfPairs for_even{}, for_odd{};
    std::size_t count = 0;
    float unit = 0;  // what a one stands for
};

/// Pairs of samples that follow each other, as four integers: two real parts, then two imaginary ones.
using PackedPairs = std::array<std::int16_t, 4 * (kPiece16 + kBlock16 + kMostTapPairs)>;

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample

constexpr std::size_t kStep = internal::kBlock16;

float largest(const float* x, std::size_t floats) {
    float most = 0;
    for (std::size_t n = 0; n < floats; ++n) most = std::max(most, std::abs(x[n]));
    return most;
}

void pack_pairs(const float* first, const float* second, std::size_t floats, float scale, std::int16_t* to) {
    for (std::size_t n = 0; n < floats; ++n) {
        to[2 * n] = static_cast<std::int16_t>(std::lrint(first[n] * scale));
        to[2 * n + 1] = static_cast<std::int16_t>(std::lrint(second[n] * scale));
    }
}

float sum_of_products(const std::int16_t* x, const internal::PackedTaps::OfPairs& taps, std::size_t count) {
    std::int32_t sum = 0;
    for (std::size_t q = 0; q < count; ++q)
        sum += static_cast<std::int16_t>(taps[q]) * x[4 * q] + (taps[q] >> 16) * x[4 * q + 1];
    return static_cast<float>(sum);
}

void filter_block16(const std::int16_t* x, const internal::PackedTaps& taps, float unit, float* even,
                    float* odd) {
    for (std::size_t n = 0; n < 2 * kStep; ++n) {
        even[n] = sum_of_products(x + 2 * n, taps.for_even, taps.count) * unit;
        odd[n] = sum_of_products(x + 2 * n, taps.for_odd, taps.count) * unit;
    }
}

#else

// At most four samples: loads of more lie across cache lines nearly wherever they start.
using Floats = hn::CappedTag<float, 8>;
using Sums = hn::RebindToSigned<Floats>;
using Parts = hn::Repartition<std::int16_t, Sums>;
using SumsVec = hn::Vec<Sums>;
using PartsVec = hn::Vec<Parts>;

constexpr std::size_t kWidth = hn::MaxLanes(Sums()), kApart = kWidth / 2, kStep = 4 * kApart;

float largest(const float* x, std::size_t floats) {
    const Floats d;
    auto a = hn::Zero(d), b = a;
    std::size_t n = 0;
    for (; n + 2 * kWidth <= floats; n += 2 * kWidth) {
        a = hn::Max(a, hn::Abs(hn::LoadU(d, x + n)));
        b = hn::Max(b, hn::Abs(hn::LoadU(d, x + n + kWidth)));
    }
    float most = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
    for (; n < floats; ++n) most = std::max(most, std::abs(x[n]));
    return most;
}

void pack_pairs(const float* first, const float* second, std::size_t floats, float scale, std::int16_t* to) {
    const Floats d;
    const Sums wide;
    const Parts narrow;
    const auto factor = hn::Set(d, scale), rounder = hn::Set(d, internal::kRounder);
    const auto whole = [&](const float* x) HWY_ATTR {
        return hn::BitCast(wide, hn::MulAdd(hn::LoadU(d, x), factor, rounder));
    };
    std::size_t n = 0;
    for (; n + kWidth <= floats; n += kWidth) {
        const auto lower = whole(first + n), upper = hn::ShiftLeft<16>(whole(second + n));
        hn::StoreU(hn::OddEven(hn::BitCast(narrow, upper), hn::BitCast(narrow, lower)), narrow, to + 2 * n);
    }
    for (; n < floats; ++n) {
        to[2 * n] = static_cast<std::int16_t>(std::lrint(first[n] * scale));
        to[2 * n + 1] = static_cast<std::int16_t>(std::lrint(second[n] * scale));
    }
}

// Sums of products, of which targets keep even and odd ones together or apart.
struct Products {
    SumsVec sum, rest;

    HWY_INLINE Products() : sum(hn::Zero(Sums())), rest(sum) {}
    HWY_INLINE void add(PartsVec taps, PartsVec x) {
        sum = hn::ReorderWidenMulAccumulate(Sums(), taps, x, sum, rest);
    }
    HWY_INLINE void store(float unit, float* to) const {
        const auto whole = hn::ConvertTo(Floats(), hn::RearrangeToOddPlusEven(sum, rest));
        hn::StoreU(hn::Mul(whole, hn::Set(Floats(), unit)), Floats(), to);
    }
};

// Four vectors of outputs of each half, each the sum over all taps. What is loaded is multiplied by taps for
// both halves, and again by those a vector further on.
void filter_block16(const std::int16_t* x, const internal::PackedTaps& taps, float unit, float* even,
                    float* odd) {
    const Parts d;
    const auto tap = [&](const internal::PackedTaps::OfPairs& all, std::size_t pair)
                         HWY_ATTR { return hn::BitCast(d, hn::Set(Sums(), all[pair])); };
    Products e0, e1, e2, e3, o0, o1, o2, o3;
    std::size_t q = 0;
    for (; q + 2 * kApart <= taps.count; q += 2 * kApart) {
        HWY_UNROLL(1)
        for (std::size_t i = q; i < q + kApart; ++i) {
            const PartsVec e = tap(taps.for_even, i), o = tap(taps.for_odd, i),
                           later_e = tap(taps.for_even, i + kApart), later_o = tap(taps.for_odd, i + kApart);
            const std::int16_t* from = x + 4 * i;
            const PartsVec x0 = hn::LoadU(d, from), x1 = hn::LoadU(d, from + 2 * kWidth),
                           x2 = hn::LoadU(d, from + 4 * kWidth), x3 = hn::LoadU(d, from + 6 * kWidth),
                           x4 = hn::LoadU(d, from + 8 * kWidth);
            const auto add = [&](Products& to_e, Products& to_o, PartsVec first, PartsVec second) HWY_ATTR {
                to_e.add(e, first);
                to_o.add(o, first);
                to_e.add(later_e, second);
                to_o.add(later_o, second);
            };
            add(e0, o0, x0, x1);
            add(e1, o1, x1, x2);
            add(e2, o2, x2, x3);
            add(e3, o3, x3, x4);
        }
    }
    for (; q < taps.count; ++q) {
        const PartsVec e = tap(taps.for_even, q), o = tap(taps.for_odd, q);
        const auto add = [&](Products& to_e, Products& to_o, std::size_t vector) HWY_ATTR {
            const PartsVec loaded = hn::LoadU(d, x + 4 * q + vector * 2 * kWidth);
            to_e.add(e, loaded);
            to_o.add(o, loaded);
        };
        add(e0, o0, 0);
        add(e1, o1, 1);
        add(e2, o2, 2);
        add(e3, o3, 3);
    }
    e0.store(unit, even);
    e1.store(unit, even + kWidth);
    e2.store(unit, even + 2 * kWidth);
    e3.store(unit, even + 3 * kWidth);
    o0.store(unit, odd);
    o1.store(unit, odd + kWidth);
    o2.store(unit, odd + 2 * kWidth);
    o3.store(unit, odd + 3 * kWidth);
}

#endif

// A power of two, so that nothing is lost in scaling, with a fused multiply-add or without: every target has
// the same integers.
float power_of_two_scale(float most) {
    constexpr float kMost = 32767.0F;
    if (!(most > 1e-30F)) return 0.0F;
    int exponent = 0;
    std::frexp(most, &exponent);
    const float scale = std::ldexp(1.0F, 15 - exponent);
    return most * scale > kMost ? scale / 2 : scale;
}

// The last block may do again what the one before did.
void filter_piece16(const float* even, const float* odd, const internal::PackedTaps& taps,
                    std::size_t samples, float* even_out, float* odd_out) {
    alignas(64) internal::PackedPairs pairs;
    const std::size_t floats = 2 * (samples + taps.count - 1);
    const float scale = power_of_two_scale(std::max(largest(even, floats), largest(odd, floats)));
    pack_pairs(even, odd, floats, scale, pairs.data());
    const float unit = scale > 0 ? taps.unit / scale : 0.0F;
    for (std::size_t n = 0; n < samples; n += kStep) {
        const std::size_t at = std::min(n, samples - kStep);
        filter_block16(pairs.data() + 4 * at, taps, unit, even_out + 2 * at, odd_out + 2 * at);
    }
}

std::size_t filter_split16(const float* even, const float* odd, const internal::PackedTaps& taps,
                           std::size_t samples, float* even_out, float* odd_out) {
    using internal::kBlock16, internal::kPiece16;
    std::size_t done = 0;
    while (samples - done >= kBlock16) {
        const std::size_t left = samples - done;
        const std::size_t some = left < kPiece16 + kBlock16 ? left : kPiece16;
        filter_piece16(even + 2 * done, odd + 2 * done, taps, some, even_out + 2 * done, odd_out + 2 * done);
        done += some;
    }
    return done;
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(filter_split16);

namespace {

const float* parts_of(std::span<const Iq> x) {
    return reinterpret_cast<const float*>(x.data());
}
float* parts_of(std::span<Iq> x) {
    return reinterpret_cast<float*>(x.data());
}

// As large as 16 bits hold, and no sum of products beyond 32 bits.
float tap_scale(std::span<const float> taps) {
    constexpr float kMostTap = 32767.0F, kMostSum = 65535.0F;
    float most = 0, sum = 0;
    for (const float tap : taps) {
        most = std::max(most, std::abs(tap));
        sum += std::abs(tap);
    }
    return most > 0 ? std::min(kMostTap / most, (kMostSum - static_cast<float>(taps.size())) / sum) : 1.0F;
}

internal::PackedTaps pack(std::span<const float> taps) {
    const float scale = tap_scale(taps);
    internal::PackedTaps packed{.count = taps.size() / 2 + 1, .unit = 1 / scale};
    // None before the first, and none behind the last.
    const auto whole = [&](std::size_t k) {
        const float tap = k < taps.size() ? taps[k] : 0.0F;
        return static_cast<std::uint32_t>(static_cast<std::uint16_t>(std::lrint(tap * scale)));
    };
    for (std::size_t q = 0; q < packed.count; ++q) {
        packed.for_even[q] = std::bit_cast<std::int32_t>(whole(2 * q) | whole(2 * q + 1) << 16);
        packed.for_odd[q] = std::bit_cast<std::int32_t>(whole(2 * q - 1) | whole(2 * q) << 16);
    }
    return packed;
}

}  // namespace

void split_fir16(SplitView x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out) {
    const std::size_t pairs = taps.size() / 2;
    assert(taps.size() % 2 == 0 && pairs <= internal::kMostTapPairs && odd_out.size() == even_out.size());
    assert(x.even.size() >= even_out.size() + pairs && x.odd.size() >= even_out.size() + pairs);
    const std::size_t done =
        HWY_DYNAMIC_DISPATCH(filter_split16)(parts_of(x.even), parts_of(x.odd), pack(taps), even_out.size(),
                                             parts_of(even_out), parts_of(odd_out));
    const auto rest = [done](auto samples) { return samples.subspan(done); };
    split_fir({rest(x.even), rest(x.odd)}, taps, rest(even_out), rest(odd_out));
}

}  // namespace tidemill::dsp
#endif
