#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sign_byte_interpolator.cpp"
#include "tidemill/dsp/sign_byte_interpolator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/internal/sign_rows.hpp"
#include "tidemill/dsp/internal/sign_sums_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Sums = SignSums<std::int16_t>;
using Vec = Sums::Vec;

// Both parts of a vector of outputs, to bytes; returns how many of them were limited.
HWY_INLINE std::size_t store_rounded(Vec re, Vec im, const SignByteInterpolator::Rounding& rounding,
                                     std::byte* out) {
    const Sums::D d;
    const Vec most = hn::Set(d, rounding.most), half = hn::Set(d, rounding.half);
    const auto limited = hn::Or(hn::Gt(hn::Abs(re), most), hn::Gt(hn::Abs(im), most));
    const auto rounded = [&](Vec v) HWY_ATTR {
        const Vec within = hn::Max(hn::Min(v, most), hn::Neg(most));
        return hn::ShiftRightSame(hn::Add(within, half), rounding.fraction_bits);
    };
    const Vec both = hn::Xor(hn::Or(hn::And(rounded(re), hn::Set(d, 0xFF)), hn::ShiftLeft<8>(rounded(im))),
                             hn::Set(d, rounding.flip));
    static_assert(sizeof(both) == 2 * Sums::kWidth);
    std::memcpy(out, &both, sizeof(both));  // which need not be aligned
    return hn::CountTrue(d, limited);
}

std::uint64_t sum_to_bytes(const internal::SignPositions& places, std::size_t blocks, std::size_t pairs,
                           const SignByteInterpolator::Rounding& rounding, const std::int16_t* rows,
                           std::byte* out) {
    std::uint64_t limited = 0;
    Sums::make(places, blocks, pairs, rows, [&](Vec re, Vec im, std::size_t at) HWY_ATTR {
        limited += store_rounded(re, im, rounding, out + 2 * at);
    });
    return limited;
}

}  // namespace
}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(sum_to_bytes);

namespace {

using Number = std::int16_t;
using internal::kSignRow;

constexpr std::size_t kBlock = internal::kSignBlock<Number>;

constexpr int kLeastFraction = 7;  // bits: what fourteen rows are rounded by is hundredths of a step then
constexpr int kMostFraction = 14;

// The largest sum that any signs give.
double largest_sum(const std::vector<double>& rows) {
    double largest = 0;
    for (std::size_t output = 0; output < kSignRow<Number>; ++output) {
        double sum = 0;
        for (std::size_t at = output; at < rows.size(); at += internal::kSignPatterns * kSignRow<Number>) {
            double of_group = 0;
            for (std::size_t pattern = 0; pattern < internal::kSignPatterns; ++pattern)
                of_group = std::max(of_group, std::abs(rows[at + pattern * kSignRow<Number>]));
            sum += of_group;
        }
        largest = std::max(largest, sum);
    }
    return largest;
}

// As many bits behind the point as leave room for the largest sum, in steps, with a bit for what rounding
// adds.
int fraction_for(double largest) {
    int bits = kMostFraction;
    while (bits >= kLeastFraction &&
           !(std::ldexp(std::abs(largest) + 1, bits) < std::numeric_limits<Number>::max()))
        --bits;
    return bits;
}

SignByteInterpolator::Rounding rounding_for(int fraction_bits, double full_scale, bool is_signed) {
    const double most = std::min(std::ldexp(full_scale, fraction_bits),
                                 static_cast<double>(std::numeric_limits<Number>::max()));
    // Without a sign what lies below 0 is rounded down, and 0.0 is between two steps.
    return {.fraction_bits = fraction_bits,
            .half = static_cast<Number>(is_signed ? 1 << (fraction_bits - 1) : 0),
            .most = static_cast<Number>(most),
            .flip = static_cast<Number>(is_signed ? 0 : 0x8080)};
}

}  // namespace

SignByteInterpolator::SignByteInterpolator(std::span<const float> taps, float magnitude, float gain,
                                           SampleFormat format)
    : taps_(taps.size() / SignInterpolator::kPhases), magnitude_(magnitude) {
    assert(format == SampleFormat::ci8 || format == SampleFormat::cu8);
    assert(taps_ > 0 && taps_ <= SignInterpolator::kMostTaps);
    const bool is_signed = format == SampleFormat::ci8;
    const double full_scale = is_signed ? 127.0 : 127.5;
    const auto rows = internal::sign_rows(taps, kBlock);
    const double scale = static_cast<double>(magnitude) * static_cast<double>(gain) * full_scale;
    const int fraction_bits = fraction_for(scale * largest_sum(rows));
    if (fraction_bits < kLeastFraction) return;
    rounding_ = rounding_for(fraction_bits, full_scale, is_signed);
    for (const double value : rows)
        rows_.push_back(static_cast<Number>(std::lrint(std::ldexp(scale * value, fraction_bits))));
}

std::size_t SignByteInterpolator::process(std::span<const Iq> x, std::span<std::byte> out,
                                          std::uint64_t& limited) const {
    assert(x.size() >= taps_ - 1 && out.size() == 2 * SignInterpolator::kPhases * (x.size() - (taps_ - 1)));
    if (rows_.empty()) return 0;
    const std::size_t history = internal::sign_history(taps_);
    const auto make = [&](const internal::SignPositions& places, std::size_t done, std::size_t blocks) {
        limited += HWY_DYNAMIC_DISPATCH(sum_to_bytes)(
            places, blocks, (kBlock + history) / internal::kSignStep, rounding_, rows_.data(),
            &out[2 * SignInterpolator::kPhases * kBlock * done]);
    };
    return kBlock * internal::by_sign_pieces<Number>(x, history, magnitude_, make);
}

}  // namespace tidemill::dsp
#endif
