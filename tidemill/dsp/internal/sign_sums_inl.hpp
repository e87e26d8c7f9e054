// For each instruction set once more: to be included behind highway.h by files that foreach_target.h
// includes again.
#if defined(TIDEMILL_DSP_SIGN_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TIDEMILL_DSP_SIGN_SUMS_INL_HPP
#undef TIDEMILL_DSP_SIGN_SUMS_INL_HPP
#else
#define TIDEMILL_DSP_SIGN_SUMS_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "tidemill/dsp/internal/sign_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {

/// Sums of the outputs of blocks, vector by vector.
template <typename Number>
struct SignSums {
    static constexpr std::size_t kRow = internal::kSignRow<Number>;
    using D = hwy::HWY_NAMESPACE::CappedTag<Number, kRow>;
    using Vec = hwy::HWY_NAMESPACE::Vec<D>;
    static constexpr std::size_t kWidth = hwy::HWY_NAMESPACE::MaxLanes(D());
    // Vectors of one part's outputs that are added up side by side: with both parts, and two sums for each,
    // all stay in registers.
    static constexpr std::size_t kAbreast = HWY_MIN(std::size_t{2}, kRow / kWidth);

    /// Calls store(re, im, at) for the outputs from `at` on, made of rows of a block and of its history, of
    /// which there are so many groups in pairs.
    template <class Store>
    static HWY_INLINE void make(const internal::SignPositions& places, std::size_t blocks, std::size_t pairs,
                                const Number* rows, Store store) {
        constexpr std::size_t kGroups = internal::kSignBlock<Number> / internal::kSignGroup;
        for (std::size_t block = 0; block < blocks; ++block) {
            for (std::size_t at = 0; at < kRow; at += kAbreast * kWidth)
                make_some(&places.groups[kGroups * block], pairs, rows + at, kRow * block + at, store);
        }
    }

  private:
    template <class Store>
    static HWY_INLINE void make_some(const std::uint32_t* places, std::size_t pairs, const Number* rows,
                                     std::size_t first, Store& store) {
        namespace hn = hwy::HWY_NAMESPACE;
        const D d;
        const auto* at = reinterpret_cast<const std::uint8_t*>(rows);
        Vec re[2][kAbreast], im[2][kAbreast];
        for (std::size_t v = 0; v < kAbreast; ++v) re[0][v] = re[1][v] = im[0][v] = im[1][v] = hn::Zero(d);
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            HWY_UNROLL(2)
            for (std::size_t i = 0; i < 2; ++i, at += internal::kSignGroupBytes) {
                const std::uint32_t place = places[2 * pair + i];
                const auto* re_row = reinterpret_cast<const Number*>(at + internal::re_byte(place));
                const auto* im_row = reinterpret_cast<const Number*>(at + internal::im_byte(place));
                HWY_UNROLL(2)
                for (std::size_t v = 0; v < kAbreast; ++v) {
                    re[i][v] = hn::Add(re[i][v], hn::Load(d, re_row + v * kWidth));
                    im[i][v] = hn::Add(im[i][v], hn::Load(d, im_row + v * kWidth));
                }
            }
        }
        for (std::size_t v = 0; v < kAbreast; ++v)
            store(hn::Add(re[0][v], re[1][v]), hn::Add(im[0][v], im[1][v]), first + v * kWidth);
    }
};

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
