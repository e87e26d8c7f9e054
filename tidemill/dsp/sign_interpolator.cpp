#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/sign_interpolator.cpp"
#include "tidemill/dsp/sign_interpolator.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TIDEMILL_DSP_SIGN_INTERPOLATOR_ONCE
#define TIDEMILL_DSP_SIGN_INTERPOLATOR_ONCE
namespace tidemill::dsp::detail {

inline constexpr std::size_t kBlock = 8;  // samples for which outputs are made at once
inline constexpr std::size_t kGroup = 4;  // samples that are looked up at once
inline constexpr std::size_t kPatterns = 1U << kGroup;
inline constexpr std::size_t kPieceBlocks = 64;  // whose signs are packed at once

/// A bit for each sample, set where the part is negative: those of a piece and of what reaches its last
/// block.
using Signs = std::array<std::uint8_t, kPieceBlocks + 8>;
struct SignPair {
    Signs re{};
    Signs im{};
};

/// What the table holds: groups that reach a block, and floats that a group adds to one part of it.
struct TableShape {
    std::size_t groups;
    std::size_t row;
};

inline std::uint64_t eight_bytes(const std::uint8_t* from) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{from[i]} << 8 * i;
    return value;
}

}  // namespace tidemill::dsp::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class M>
unsigned mask_bits(D d, M mask) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    return bytes[0];
}

// Packs the signs of `blocks` times eight samples; false when a part has another magnitude.
bool PackSigns(const float* x, std::size_t blocks, float magnitude, detail::SignPair& signs) {
    const hn::CappedTag<float, detail::kBlock> d;
    const auto wanted = hn::Set(d, magnitude);
    auto different = hn::MaskFromVec(hn::Zero(d));
    for (std::size_t block = 0; block < blocks; ++block) {
        unsigned re_bits = 0, im_bits = 0;
        for (std::size_t at = 0; at < detail::kBlock; at += hn::Lanes(d), x += 2 * hn::Lanes(d)) {
            hn::Vec<decltype(d)> re, im;
            hn::LoadInterleaved2(d, x, re, im);
            different = hn::Or(different, hn::Or(hn::Ne(hn::Abs(re), wanted), hn::Ne(hn::Abs(im), wanted)));
            re_bits |= mask_bits(d, hn::Lt(re, hn::Zero(d))) << at;
            im_bits |= mask_bits(d, hn::Lt(im, hn::Zero(d))) << at;
        }
        signs.re[block] = static_cast<std::uint8_t>(re_bits);
        signs.im[block] = static_cast<std::uint8_t>(im_bits);
    }
    return hn::AllFalse(d, different);
}

// Vectors of one width for all blocks; the table's rows are whole vectors.
template <class D>
void sum_rows(D d, const detail::SignPair& signs, std::size_t blocks, float magnitude, const float* rows,
              detail::TableShape shape, float* out) {
    const auto scale = hn::Set(d, magnitude);
    for (std::size_t block = 0; block < blocks; ++block) {
        for (std::size_t at = 0; at < shape.row; at += hn::Lanes(d), out += 2 * hn::Lanes(d)) {
            std::uint64_t re_bits = detail::eight_bytes(&signs.re[block]);
            std::uint64_t im_bits = detail::eight_bytes(&signs.im[block]);
            auto re = hn::Zero(d), im = re;
            const float* row = rows + at;
            for (std::size_t group = 0; group < shape.groups; ++group) {
                re = hn::Add(re, hn::Load(d, row + shape.row * (re_bits % detail::kPatterns)));
                im = hn::Add(im, hn::Load(d, row + shape.row * (im_bits % detail::kPatterns)));
                re_bits >>= detail::kGroup;
                im_bits >>= detail::kGroup;
                row += shape.row * detail::kPatterns;
            }
            hn::StoreInterleaved2(hn::Mul(re, scale), hn::Mul(im, scale), d, out);
        }
    }
}

void SumRows(const detail::SignPair& signs, std::size_t blocks, float magnitude, const float* rows,
             detail::TableShape shape, float* out) {
    const hn::CappedTag<float, 2 * detail::kBlock> wide;
    const hn::CappedTag<float, detail::kBlock> narrow;
    if (shape.row % hn::Lanes(wide) == 0) {
        sum_rows(wide, signs, blocks, magnitude, rows, shape, out);
    } else {
        sum_rows(narrow, signs, blocks, magnitude, rows, shape, out);
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(PackSigns);
HWY_EXPORT(SumRows);

namespace {

using detail::kBlock;
using detail::kGroup;
using detail::kPatterns;

// Of the inputs that reach a block of eight samples, in groups.
std::size_t groups_of(std::size_t taps) {
    return (taps + kBlock - 1 + kGroup - 1) / kGroup;
}

// What samples `first` to `first` + 3 of a block's inputs, of unit magnitude, add to one output of its sample
// `at`.
float contribution(std::span<const float> phase, std::size_t first, std::size_t pattern, std::size_t at) {
    double sum = 0;
    for (std::size_t bit = 0; bit < kGroup; ++bit) {
        const std::size_t input = first + bit;
        if (input < at || input - at >= phase.size()) continue;
        const double tap = phase[input - at];
        sum += (pattern >> bit & 1U) != 0 ? -tap : tap;
    }
    return static_cast<float>(sum);
}

}  // namespace

SignInterpolator::SignInterpolator(std::span<const float> taps, std::size_t phases)
    : phases_(phases), taps_(taps.size() / phases) {
    assert(taps_ > 0 && taps_ <= kMostTaps && taps.size() == taps_ * phases);
    for (std::size_t group = 0; group < groups_of(taps_); ++group) {
        for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
            for (std::size_t output = 0; output < kBlock * phases; ++output) {
                rows_.push_back(contribution(taps.subspan(output % phases * taps_, taps_), kGroup * group,
                                             pattern, output / phases));
            }
        }
    }
}

std::size_t SignInterpolator::process(std::span<const Iq> x, std::span<Iq> out) const {
    const std::size_t history_blocks = (taps_ - 1 + kBlock - 1) / kBlock;
    assert(x.size() >= taps_ - 1 && out.size() == (x.size() - (taps_ - 1)) * phases_);
    std::size_t blocks_left = x.size() / kBlock - std::min(x.size() / kBlock, history_blocks);
    const auto* from = reinterpret_cast<const float*>(x.data());
    auto* to = reinterpret_cast<float*>(out.data());
    const float magnitude = x.empty() ? 0.0F : std::abs(x[0].real());
    std::size_t done = 0;
    while (blocks_left > 0) {
        const std::size_t blocks = std::min(detail::kPieceBlocks, blocks_left);
        detail::SignPair signs;
        if (!HWY_DYNAMIC_DISPATCH(PackSigns)(from + 2 * done, blocks + history_blocks, magnitude, signs))
            break;
        HWY_DYNAMIC_DISPATCH(SumRows)
        (signs, blocks, magnitude, rows_.data(), {groups_of(taps_), kBlock * phases_},
         to + 2 * done * phases_);
        done += kBlock * blocks;
        blocks_left -= blocks;
    }
    return done;
}

}  // namespace tidemill::dsp
#endif
