#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/split_fir16.cpp"
#define HWY_WANT_AVX3_DL  // for its dot products
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

#include "tidemill/dsp/dot_product_inl.hpp"

#ifndef TIDEMILL_DSP_SPLIT_FIR16_ONCE
#define TIDEMILL_DSP_SPLIT_FIR16_ONCE
namespace tidemill::dsp::internal {

inline constexpr std::size_t kMostTapPairs = 64;

/// By which a pair of samples is multiplied that lies so many pairs behind an output: two taps in one number,
/// the earlier one in its lower half.
struct PackedTaps {
    using OfPairs = std::array<std::int32_t, kMostTapPairs>;
    OfPairs for_even{}, for_odd{};
    std::size_t count = 0;
    float unit = 0;  // what a one stands for
};

/// One output, of samples that begin with the real or with the imaginary parts of a pair.
inline float sum_of_products(const std::int16_t* x, const PackedTaps::OfPairs& taps, std::size_t count,
                             float unit) {
    std::int32_t sum = 0;
    for (std::size_t q = 0; q < count; ++q)
        sum += static_cast<std::int16_t>(taps[q]) * x[4 * q] + (taps[q] >> 16) * x[4 * q + 1];
    return static_cast<float>(sum) * unit;
}

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t filter_blocks16(const std::int16_t*, const internal::PackedTaps&, float, std::size_t, float*,
                            float*) {
    return 0;
}

#else

// Vectors of 512 bits serve, too, though loads of so many lie across cache lines nearly wherever they start:
// each is multiplied four times.
using Floats = hn::CappedTag<float, 16>;
using Sums = hn::RebindToSigned<Floats>;
using Parts = hn::Repartition<std::int16_t, Sums>;
using SumsVec = hn::Vec<Sums>;
using PartsVec = hn::Vec<Parts>;

constexpr std::size_t kWidth = hn::MaxLanes(Sums()), kApart = kWidth / 2, kStep = 4 * kApart;

HWY_INLINE void store_floats(SumsVec whole, float unit, float* to) {
    hn::StoreU(hn::Mul(hn::ConvertTo(Floats(), whole), hn::Set(Floats(), unit)), Floats(), to);
}

#if HWY_TARGET == HWY_AVX3_DL

// One instruction multiplies, and adds both products to a sum. It takes longer than the next one of the same
// sum comes after it, so there are two.
struct Products {
    SumsVec sum, other;

    HWY_INLINE Products() : sum(hn::Zero(Sums())), other(sum) {}
    HWY_INLINE void add(PartsVec taps, PartsVec x) { add_products(sum, taps, x); }
    HWY_INLINE void add(PartsVec taps, PartsVec x, PartsVec other_taps, PartsVec other_x) {
        add_products(sum, taps, x);
        add_products(other, other_taps, other_x);
    }
    HWY_INLINE void store(float unit, float* to) const { store_floats(hn::Add(sum, other), unit, to); }
};

#else

// Sums of products, of which targets keep even and odd ones together or apart.
struct Products {
    SumsVec sum, rest;

    HWY_INLINE Products() : sum(hn::Zero(Sums())), rest(sum) {}
    HWY_INLINE void add(PartsVec taps, PartsVec x) {
        sum = hn::ReorderWidenMulAccumulate(Sums(), taps, x, sum, rest);
    }
    HWY_INLINE void add(PartsVec taps, PartsVec x, PartsVec other_taps, PartsVec other_x) {
        add(taps, x);
        add(other_taps, other_x);
    }
    HWY_INLINE void store(float unit, float* to) const {
        store_floats(hn::RearrangeToOddPlusEven(sum, rest), unit, to);
    }
};

#endif

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
                to_e.add(e, first, later_e, second);
                to_o.add(o, first, later_o, second);
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

// The last block may do again what the one before did.
std::size_t filter_blocks16(const std::int16_t* pairs, const internal::PackedTaps& taps, float unit,
                            std::size_t count, float* even, float* odd) {
    if (count < kStep) return 0;
    for (std::size_t n = 0; n < count; n += kStep) {
        const std::size_t at = std::min(n, count - kStep);
        filter_block16(pairs + 4 * at, taps, unit, even + 2 * at, odd + 2 * at);
    }
    return count;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(filter_blocks16);

namespace {

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

void split_fir16(ShortPairs x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out) {
    const std::size_t count = even_out.size();
    assert(taps.size() < 2 * internal::kMostTapPairs && odd_out.size() == count);
    assert(x.size() >= count + taps.size() / 2);
    const internal::PackedTaps packed = pack(taps);
    const float unit = packed.unit * x.unit;
    auto* even = reinterpret_cast<float*>(even_out.data());
    auto* odd = reinterpret_cast<float*>(odd_out.data());
    const std::size_t done =
        HWY_DYNAMIC_DISPATCH(filter_blocks16)(x.parts.data(), packed, unit, count, even, odd);
    for (std::size_t n = 2 * done; n < 2 * count; ++n) {
        const std::int16_t* from = x.parts.data() + 2 * n;
        even[n] = internal::sum_of_products(from, packed.for_even, packed.count, unit);
        odd[n] = internal::sum_of_products(from, packed.for_odd, packed.count, unit);
    }
}

}  // namespace tidemill::dsp
#endif
