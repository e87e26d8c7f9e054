#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/power_peaks.cpp"
#include "tidemill/dsp/power_peaks.hpp"

#include <algorithm>
#include <cassert>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/dot_product_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dsp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Numbers from one row of a group to the next: the same on every target, and so are the sums.
constexpr std::size_t kRow = 2 * kPeakGroup / kPeakParts;

// Sums of squares, not means.
PowerPeaks peaks_of_groups(const float* x, std::size_t groups) {
    const hn::CappedTag<float, kRow> d;
    const std::size_t width = hn::Lanes(d);
    auto sum = hn::Zero(d), part = sum, group = sum;
    for (; groups > 0; --groups, x += 2 * kPeakGroup) {
        for (std::size_t lane = 0; lane < kRow; lane += width) {
            auto parts = hn::Zero(d);
            for (std::size_t n = lane; n < 2 * kPeakGroup; n += kRow) {
                const auto v = hn::LoadU(d, x + n);
                const auto square = hn::Mul(v, v);
                part = hn::Max(part, square);
                parts = hn::Add(parts, square);
            }
            group = hn::Max(group, parts);
            sum = hn::Add(sum, parts);
        }
    }
    return {hn::GetLane(hn::SumOfLanes(d, sum)), hn::GetLane(hn::MaxOfLanes(d, part)),
            hn::GetLane(hn::MaxOfLanes(d, group))};
}

void sums_of_groups(const float* x, std::size_t group, float* sums, std::size_t groups) {
    const hn::CappedTag<float, kRow> d;
    const std::size_t width = hn::Lanes(d);
    for (; groups > 0; --groups, ++sums) {
        auto first = hn::Zero(d), second = first;
        for (const float* end = x + group; x < end; x += kRow) {
            const auto a = hn::LoadU(d, x);
            first = hn::MulAdd(a, a, first);
            for (std::size_t lane = width; lane < kRow; lane += width) {
                const auto b = hn::LoadU(d, x + lane);
                second = hn::MulAdd(b, b, second);
            }
        }
        *sums = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
    }
}

// A row of bytes as numbers of 16 bits.
using Numbers = hn::CappedTag<std::int16_t, kRow>;

template <class D>
HWY_INLINE hn::Vec<D> numbers_from(D d, const std::int8_t* x) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int8_t, D>(), x));
}

// Half a column of a group is at most 4 * 128^2, which saturates one short of what it is; both are averaged.
PowerPeaks peaks_of_byte_groups(const std::int8_t* x, std::size_t groups) {
    const hn::RebindToUnsigned<Numbers> d;
    const std::size_t width = hn::Lanes(d);
    auto part = hn::Zero(d), group = part;
    float sum = 0;
    for (; groups > 0; --groups, x += 2 * kPeakGroup) {
        DotProduct<Numbers> squares;
        for (std::size_t lane = 0; lane < kRow; lane += width) {
            hn::Vec<decltype(d)> halves[2] = {hn::Zero(d), hn::Zero(d)};
            HWY_UNROLL(8)
            for (std::size_t row = 0; row < kPeakParts; ++row) {
                const auto v = numbers_from(Numbers(), x + row * kRow + lane);
                squares.add(v, v);
                const auto square = hn::BitCast(d, hn::Mul(v, v));
                part = hn::Max(part, square);
                auto& half = halves[row / (kPeakParts / 2)];
                half = hn::SaturatedAdd(half, square);
            }
            group = hn::Max(group, hn::AverageRound(halves[0], halves[1]));
        }
        sum += static_cast<float>(squares.all());
    }
    return {sum, static_cast<float>(hn::GetLane(hn::MaxOfLanes(d, part))),
            2.0F * static_cast<float>(hn::GetLane(hn::MaxOfLanes(d, group)))};
}

// In two sums of which neither waits for the other.
void sums_of_byte_groups(const std::int8_t* x, std::size_t group, float* sums, std::size_t groups) {
    const hn::ScalableTag<std::int16_t> d;
    const std::size_t width = hn::Lanes(d);
    for (; groups > 0; --groups, ++sums) {
        DotProduct<hn::ScalableTag<std::int16_t>> first, second;
        DotProduct<Numbers> rest;
        const std::int8_t* end = x + group;
        for (; x + 2 * width <= end; x += 2 * width) {
            const auto a = numbers_from(d, x), b = numbers_from(d, x + width);
            first.add(a, a);
            second.add(b, b);
        }
        for (; x < end; x += hn::Lanes(Numbers())) {
            const auto a = numbers_from(Numbers(), x);
            rest.add(a, a);
        }
        *sums = static_cast<float>(first.all() + second.all() + rest.all());
    }
}

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(peaks_of_groups);
HWY_EXPORT(sums_of_groups);
HWY_EXPORT(peaks_of_byte_groups);
HWY_EXPORT(sums_of_byte_groups);

namespace {

// `peaks` has sums of squares, not means.
template <class Sample>
PowerPeaks peaks_of(std::span<const Sample> x, auto peaks) {
    const std::size_t groups = x.size() / kPeakGroup;
    if (groups == 0) return {};
    const PowerPeaks all = peaks(x.data(), groups), last = peaks(x.last(kPeakGroup).data(), 1);
    return {all.mean / static_cast<float>(groups * kPeakGroup), std::max(all.part, last.part),
            std::max(all.group, last.group) / static_cast<float>(kPeakParts)};
}

template <class Sample>
void means_of(std::span<const Sample> x, std::size_t group_samples, std::span<float> means, auto sums) {
    assert(group_samples % 8 == 0 && means.size() * group_samples <= x.size());
    sums(x.data(), 2 * group_samples, means.data(), means.size());
    for (float& mean : means) mean /= static_cast<float>(group_samples);
}

}  // namespace

PowerPeaks power_peaks(std::span<const Iq> x) {
    return peaks_of(x, [](const Iq* from, std::size_t groups) {
        return HWY_DYNAMIC_DISPATCH(peaks_of_groups)(reinterpret_cast<const float*>(from), groups);
    });
}

PowerPeaks power_peaks(std::span<const Ci8> x) {
    return peaks_of(x, [](const Ci8* from, std::size_t groups) {
        return HWY_DYNAMIC_DISPATCH(peaks_of_byte_groups)(reinterpret_cast<const std::int8_t*>(from), groups);
    });
}

void mean_powers(std::span<const Iq> x, std::size_t group_samples, std::span<float> means) {
    means_of(x, group_samples, means, [](const Iq* from, auto... rest) {
        HWY_DYNAMIC_DISPATCH(sums_of_groups)(reinterpret_cast<const float*>(from), rest...);
    });
}

void mean_powers(std::span<const Ci8> x, std::size_t group_samples, std::span<float> means) {
    means_of(x, group_samples, means, [](const Ci8* from, auto... rest) {
        HWY_DYNAMIC_DISPATCH(sums_of_byte_groups)(reinterpret_cast<const std::int8_t*>(from), rest...);
    });
}

}  // namespace tidemill::dsp
#endif
