#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/polyphase_pairs.cpp"
#include "tidemill/dsp/polyphase_pairs.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_POLYPHASE_PAIRS_ONCE
#define TIDEMILL_DSP_POLYPHASE_PAIRS_ONCE
namespace tidemill::dsp::internal {

/// Data that all outputs of a call share.
struct PairsCall {
    const std::int16_t *re, *im;
    const std::int16_t* taps;
    std::size_t phases, stride;
    double first, step;
    float unit;  // of the sums
    Iq *first_out, *second_out;
    std::size_t count;
};

/// Samples of one pair, and its two rows of taps.
struct PairAt {
    const std::int16_t *re, *im;
    const std::int16_t* taps;
};

inline constexpr std::size_t kRowTaps = 16;  // whole vectors of 32 bytes

/// Places as whole numbers of this part of a sample.
inline constexpr double kPlacesASample = 4294967296.0;

}  // namespace tidemill::dsp::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using internal::PairAt;
using internal::PairsCall;

#if HWY_TARGET == HWY_SCALAR

template <std::size_t kRows>
void filter_pair(const PairAt& at, std::size_t stride, float unit, float* first, float* second) {
    std::int32_t sums[4] = {};
    for (std::size_t n = 0; n < stride; ++n) {
        sums[0] += at.taps[n] * at.re[n];
        sums[1] += at.taps[n] * at.im[n];
        sums[2] += at.taps[stride + n] * at.re[n];
        sums[3] += at.taps[stride + n] * at.im[n];
    }
    for (int k = 0; k < 2; ++k) first[k] = unit * static_cast<float>(sums[k]);
    for (int k = 0; k < 2; ++k) second[k] = unit * static_cast<float>(sums[2 + k]);
}

#else

// Wider vectors would lie across cache lines nearly wherever they start.
using Narrow = hn::CappedTag<std::int16_t, internal::kRowTaps>;
using Sums = hn::Repartition<std::int32_t, Narrow>;
using SumsVec = hn::Vec<Sums>;

// The lanes of two vectors, added to half as many of each, side by side.
HWY_INLINE SumsVec halves_of_two(SumsVec a, SumsVec b) {
    const Sums d;
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
}

// The sums of four vectors' lanes, side by side.
HWY_INLINE hn::Vec<hn::CappedTag<std::int32_t, 4>> sums_of_four(SumsVec a, SumsVec b, SumsVec c, SumsVec e) {
    const Sums d;
    const hn::Repartition<std::uint64_t, Sums> pair;
    const auto ab = hn::BitCast(pair, halves_of_two(a, b)), ce = hn::BitCast(pair, halves_of_two(c, e));
    const auto blocks = hn::Add(hn::BitCast(d, hn::InterleaveLower(pair, ab, ce)),
                                hn::BitCast(d, hn::InterleaveUpper(pair, ab, ce)));
#if HWY_MAX_BYTES > 16
    const hn::Half<Sums> block;
    return hn::Add(hn::LowerHalf(block, blocks), hn::UpperHalf(block, blocks));
#else
    return blocks;
#endif
}

// Products of neighbours are added in pairs; which pair goes where does not matter to a sum. `kRows` says how
// many vectors of 32 bytes a row of taps has; 0: any number.
template <std::size_t kRows>
HWY_INLINE void filter_pair(const PairAt& at, std::size_t any_stride, float unit, float* first,
                            float* second) {
    const Narrow d;
    const Sums sums;
    const std::size_t stride = kRows > 0 ? kRows * internal::kRowTaps : any_stride;
    auto p = hn::Zero(sums), q = p, r = p, s = p;  // of the first output, and of the second
    auto p1 = p, q1 = p, r1 = p, s1 = p;           // where a product takes two vectors
    for (std::size_t n = 0; n < stride; n += hn::Lanes(d)) {
        const auto x = hn::LoadU(d, at.re + n), y = hn::LoadU(d, at.im + n);
        const auto h = hn::Load(d, at.taps + n), g = hn::Load(d, at.taps + stride + n);
        p = hn::ReorderWidenMulAccumulate(sums, x, h, p, p1);
        q = hn::ReorderWidenMulAccumulate(sums, y, h, q, q1);
        r = hn::ReorderWidenMulAccumulate(sums, x, g, r, r1);
        s = hn::ReorderWidenMulAccumulate(sums, y, g, s, s1);
    }
    const hn::CappedTag<float, 4> four;
    const hn::Half<decltype(four)> two;
    const auto four_sums = sums_of_four(hn::Add(p, p1), hn::Add(q, q1), hn::Add(r, r1), hn::Add(s, s1));
    const auto scaled = hn::Mul(hn::ConvertTo(four, four_sums), hn::Set(four, unit));
    hn::StoreU(hn::LowerHalf(two, scaled), two, first);
    hn::StoreU(hn::UpperHalf(two, scaled), two, second);
}

#endif

template <std::size_t kRows>
void filter_pairs_of(const PairsCall& call) {
    const auto step = static_cast<std::uint64_t>(call.step * internal::kPlacesASample + 0.5);
    auto place = static_cast<std::uint64_t>(call.first * internal::kPlacesASample + 0.5);
    for (std::size_t i = 0; i < call.count; ++i, place += step) {
        const std::uint64_t whole = place >> 32U, part = place & 0xFFFFFFFFU;
        const std::uint64_t phase = (part * call.phases + (std::uint64_t{1} << 31U)) >> 32U;
        filter_pair<kRows>({call.re + whole, call.im + whole, call.taps + phase * 2 * call.stride},
                           call.stride, call.unit, reinterpret_cast<float*>(call.first_out + i),
                           reinterpret_cast<float*>(call.second_out + i));
    }
}

// A loop of few rounds takes longer than the rounds do.
void filter_pairs(const PairsCall& call) {
    switch (call.stride / internal::kRowTaps) {
        case 3:
            return filter_pairs_of<3>(call);
        case 4:
            return filter_pairs_of<4>(call);
        case 5:
            return filter_pairs_of<5>(call);
        default:
            return filter_pairs_of<0>(call);
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(filter_pairs);

namespace {

using internal::kRowTaps;

constexpr double kMostTap = std::numeric_limits<std::int16_t>::max();
// Largest sum of all taps of a row: times the -32768 of a sample it is 2^31. Below that neither the sum nor a
// part of it overflows, whatever the samples are.
constexpr double kMostTaps = 65536;

// Steps of the taps, as fine as both limits allow.
double unit_of(std::span<const double> taps, std::size_t row) {
    double unit = 0;
    for (std::size_t begin = 0; begin < taps.size(); begin += row) {
        double sum = 0, most = 0;
        for (const double tap : taps.subspan(begin, row)) {
            sum += std::abs(tap);
            most = std::max(most, std::abs(tap));
        }
        // Each is rounded by half a step at the most, so the row's sum stays below the limit.
        unit = std::max({unit, most / kMostTap, sum / (kMostTaps - static_cast<double>(row))});
    }
    return unit;
}

}  // namespace

PolyphasePairs::PolyphasePairs(std::size_t taps, std::size_t phases, double apart,
                               const std::function<double(double)>& response)
    : phases_(phases),
      stride_((taps + static_cast<std::size_t>(std::ceil(apart)) + kRowTaps - 1) / kRowTaps * kRowTaps),
      taps_((phases + 1) * 2 * stride_) {
    assert(taps % 2 == 0 && phases > 0 && apart >= 0);
    const double middle = static_cast<double>(taps / 2) - 1, reach = static_cast<double>(taps / 2);
    std::vector<double> exact;
    for (std::size_t p = 0; p <= phases; ++p) {
        for (const double behind : {0.0, apart}) {
            for (std::size_t k = 0; k < stride_; ++k) {
                const double t = static_cast<double>(k) - middle - behind -
                                 static_cast<double>(p) / static_cast<double>(phases);
                exact.push_back(std::abs(t) < reach ? response(t) : 0);
            }
        }
    }
    const double unit = unit_of(exact, stride_);
    unit_ = static_cast<float>(unit);
    for (std::size_t n = 0; n < exact.size(); ++n)
        taps_[n] = static_cast<std::int16_t>(unit > 0 ? std::lrint(exact[n] / unit) : 0);
}

void PolyphasePairs::evaluate(ShortPlanes x, double first, double step, float gain, std::span<Iq> first_out,
                              std::span<Iq> second_out) const {
    assert(first >= 0.0 && first_out.size() == second_out.size() && x.re.size() == x.im.size());
    assert(first_out.empty() ||
           x.re.size() >=
               static_cast<std::size_t>(first + step * static_cast<double>(first_out.size() - 1)) + stride_);
    HWY_DYNAMIC_DISPATCH(filter_pairs)
    ({x.re.data(), x.im.data(), taps_.data(), phases_, stride_, first, step, gain * unit_, first_out.data(),
      second_out.data(), first_out.size()});
}

}  // namespace tidemill::dsp
#endif
