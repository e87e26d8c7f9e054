#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/split_fir.cpp"
#include "tidemill/dsp/split_fir.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_SPLIT_FIR_ONCE
#define TIDEMILL_DSP_SPLIT_FIR_ONCE
namespace tidemill::dsp::internal {

inline constexpr std::size_t kMostPairs = 64;
inline constexpr std::size_t kLeastSamples = 32;  // per half: fewer are filtered plainly
inline constexpr std::size_t kPiece = 512;        // samples of each half that are filtered at once

/// The even taps, the odd ones, and their sums.
struct SplitTaps {
    using Half = std::array<float, kMostPairs>;
    Half even{}, odd{}, sum{};
    std::size_t pairs;
};

/// Complex numbers of a piece, with what a filter needs behind it.
using Piece = std::array<float, 2 * (kPiece + kLeastSamples + kMostPairs)>;

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // one lane cannot hold a complex sample: the plain loop at the end does it all

std::size_t filter_split(const float*, const float*, const internal::SplitTaps&, std::size_t, float*,
                         float*) {
    return 0;
}

#else

// At most four samples: loads of more lie across cache lines nearly wherever they start.
using Narrow = hn::CappedTag<float, 8>;
using Vec = hn::Vec<Narrow>;

// Sums of eight vectors of samples: y[n] = sum over q of taps[q] x[n + q]. Four taps at a time, a vector
// apart, share what is loaded.
void filter_block(const float* x, const float* taps, std::size_t count, float* y) {
    const Narrow d;
    const std::size_t width = hn::Lanes(d), apart = width / 2;
    Vec y0 = hn::Zero(d), y1 = y0, y2 = y0, y3 = y0, y4 = y0, y5 = y0, y6 = y0, y7 = y0;
    std::size_t q = 0;
    for (; q + 4 * apart <= count; q += 4 * apart) {
        for (std::size_t i = q; i < q + apart; ++i) {
            const Vec h0 = hn::Set(d, taps[i]), h1 = hn::Set(d, taps[i + apart]),
                      h2 = hn::Set(d, taps[i + 2 * apart]), h3 = hn::Set(d, taps[i + 3 * apart]);
            const auto load = [&](std::size_t vector)
                                  HWY_ATTR { return hn::LoadU(d, x + 2 * i + vector * width); };
            const auto add = [&](Vec sum, Vec a, Vec b, Vec c, Vec e) HWY_ATTR {
                return hn::MulAdd(h3, e, hn::MulAdd(h2, c, hn::MulAdd(h1, b, hn::MulAdd(h0, a, sum))));
            };
            const Vec x0 = load(0), x1 = load(1), x2 = load(2), x3 = load(3), x4 = load(4), x5 = load(5),
                      x6 = load(6), x7 = load(7), x8 = load(8), x9 = load(9), x10 = load(10);
            y0 = add(y0, x0, x1, x2, x3);
            y1 = add(y1, x1, x2, x3, x4);
            y2 = add(y2, x2, x3, x4, x5);
            y3 = add(y3, x3, x4, x5, x6);
            y4 = add(y4, x4, x5, x6, x7);
            y5 = add(y5, x5, x6, x7, x8);
            y6 = add(y6, x6, x7, x8, x9);
            y7 = add(y7, x7, x8, x9, x10);
        }
    }
    for (; q < count; ++q) {
        const Vec h = hn::Set(d, taps[q]);
        const auto add = [&](Vec sum, std::size_t vector) HWY_ATTR {
            return hn::MulAdd(h, hn::LoadU(d, x + 2 * q + vector * width), sum);
        };
        y0 = add(y0, 0);
        y1 = add(y1, 1);
        y2 = add(y2, 2);
        y3 = add(y3, 3);
        y4 = add(y4, 4);
        y5 = add(y5, 5);
        y6 = add(y6, 6);
        y7 = add(y7, 7);
    }
    hn::StoreU(y0, d, y);
    hn::StoreU(y1, d, y + width);
    hn::StoreU(y2, d, y + 2 * width);
    hn::StoreU(y3, d, y + 3 * width);
    hn::StoreU(y4, d, y + 4 * width);
    hn::StoreU(y5, d, y + 5 * width);
    hn::StoreU(y6, d, y + 6 * width);
    hn::StoreU(y7, d, y + 7 * width);
}

// At least one block; the last one may do again what the one before did.
void filter(const float* x, const internal::SplitTaps::Half& taps, std::size_t count, std::size_t samples,
            internal::Piece& y) {
    const std::size_t block = 4 * hn::Lanes(Narrow());
    for (std::size_t n = 0; n < samples; n += block) {
        const std::size_t at = 2 * std::min(n, samples - block);
        filter_block(x + at, taps.data(), count, y.data() + at);
    }
}

// Three convolutions with half of the taps instead of four: with E = even taps * even samples, O = odd * odd
// and S = (even + odd taps) * (odd samples + next even ones), the even results are E + O, the odd ones
// S - O - next E.
void filter_piece(const float* even, const float* odd, const internal::SplitTaps& taps, std::size_t samples,
                  float* HWY_RESTRICT even_out, float* HWY_RESTRICT odd_out) {
    alignas(64) internal::Piece both, e, o, s;
    for (std::size_t i = 0; i < 2 * (samples + taps.pairs - 1); ++i) both[i] = odd[i] + even[i + 2];
    filter(even, taps.even, taps.pairs, samples + 1, e);
    filter(odd, taps.odd, taps.pairs, samples, o);
    filter(both.data(), taps.sum, taps.pairs, samples, s);
    for (std::size_t i = 0; i < 2 * samples; ++i) even_out[i] = e[i] + o[i];
    for (std::size_t i = 0; i < 2 * samples; ++i) odd_out[i] = s[i] - o[i] - e[i + 2];
}

std::size_t filter_split(const float* even, const float* odd, const internal::SplitTaps& taps,
                         std::size_t samples, float* even_out, float* odd_out) {
    std::size_t done = 0;
    while (samples - done >= internal::kLeastSamples) {
        const std::size_t left = samples - done;
        const std::size_t some = left < internal::kPiece + internal::kLeastSamples ? left : internal::kPiece;
        filter_piece(even + 2 * done, odd + 2 * done, taps, some, even_out + 2 * done, odd_out + 2 * done);
        done += some;
    }
    return done;
}

#endif

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(filter_split);

namespace {

const float* floats(std::span<const Iq> x) {
    return reinterpret_cast<const float*>(x.data());
}
float* floats(std::span<Iq> x) {
    return reinterpret_cast<float*>(x.data());
}

internal::SplitTaps split(std::span<const float> taps) {
    internal::SplitTaps split{.pairs = taps.size() / 2};
    for (std::size_t q = 0; q < split.pairs; ++q) {
        split.even[q] = taps[2 * q];
        split.odd[q] = taps[2 * q + 1];
        split.sum[q] = taps[2 * q] + taps[2 * q + 1];
    }
    return split;
}

}  // namespace

void split_fir(SplitView x, std::span<const float> taps, std::span<Iq> even_out, std::span<Iq> odd_out) {
    const std::size_t pairs = taps.size() / 2;
    assert(taps.size() % 2 == 0 && pairs <= internal::kMostPairs && odd_out.size() == even_out.size());
    assert(x.even.size() >= even_out.size() + pairs && x.odd.size() >= even_out.size() + pairs);
    std::size_t n = HWY_DYNAMIC_DISPATCH(filter_split)(floats(x.even), floats(x.odd), split(taps),
                                                       even_out.size(), floats(even_out), floats(odd_out));
    for (; n < even_out.size(); ++n) {
        Iq even{}, odd{};
        for (std::size_t q = 0; q < pairs; ++q) {
            even += taps[2 * q] * x.even[n + q] + taps[2 * q + 1] * x.odd[n + q];
            odd += taps[2 * q] * x.odd[n + q] + taps[2 * q + 1] * x.even[n + q + 1];
        }
        even_out[n] = even;
        odd_out[n] = odd;
    }
}

}  // namespace tidemill::dsp
#endif
