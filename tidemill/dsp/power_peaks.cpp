#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dsp/power_peaks.cpp"
#include "tidemill/dsp/power_peaks.hpp"

#include <algorithm>
#include <cassert>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

}  // namespace tidemill::dsp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dsp {

HWY_EXPORT(peaks_of_groups);
HWY_EXPORT(sums_of_groups);

PowerPeaks power_peaks(std::span<const Iq> x) {
    const std::size_t groups = x.size() / kPeakGroup;
    if (groups == 0) return {};
    const auto peaks = [](std::span<const Iq> samples) {
        const auto* floats = reinterpret_cast<const float*>(samples.data());
        return HWY_DYNAMIC_DISPATCH(peaks_of_groups)(floats, samples.size() / kPeakGroup);
    };
    PowerPeaks all = peaks(x);
    const PowerPeaks last = peaks(x.last(kPeakGroup));
    return {all.mean / static_cast<float>(groups * kPeakGroup), std::max(all.part, last.part),
            std::max(all.group, last.group) / static_cast<float>(kPeakParts)};
}

void mean_powers(std::span<const Iq> x, std::size_t group_samples, std::span<float> means) {
    assert(group_samples % 8 == 0 && means.size() * group_samples <= x.size());
    const auto* floats = reinterpret_cast<const float*>(x.data());
    HWY_DYNAMIC_DISPATCH(sums_of_groups)(floats, 2 * group_samples, means.data(), means.size());
    for (float& mean : means) mean /= static_cast<float>(group_samples);
}

}  // namespace tidemill::dsp
#endif
