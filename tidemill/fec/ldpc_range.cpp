#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/fec/ldpc_range.cpp"
#include "tidemill/fec/ldpc_range.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/fec/ldpc_settings.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::fec::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Towards 0 each time, which is towards 0 in all.
template <class D>
hn::Vec<D> halved(D d, hn::Vec<D> llrs, int times) {
    for (int i = 0; i < times; ++i)
        llrs = hn::ShiftRight<1>(hn::Add(llrs, hn::And(hn::BroadcastSignBit(llrs), hn::Set(d, 1))));
    return llrs;
}

void halve(const Llr* llrs, std::size_t count, int times, Llr* to) {
    const hn::ScalableTag<Llr> d;
    std::size_t n = 0;
    for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d))
        hn::StoreU(halved(d, hn::LoadU(d, llrs + n), times), d, to + n);
    const hn::CappedTag<Llr, 1> one;
    for (; n < count; ++n) hn::StoreU(halved(one, hn::LoadU(one, llrs + n), times), one, to + n);
}

std::uint64_t sum_of_magnitudes(const Llr* llrs, std::size_t count) {
    std::uint64_t all = 0;
    std::size_t n = 0;
#if HWY_TARGET != HWY_SCALAR  // sums of eight
    const hn::ScalableTag<Llr> d;
    const hn::Repartition<std::uint64_t, decltype(d)> wide;
    auto sum = hn::Zero(wide);
    for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d)) {
        const auto magnitudes =
            hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), hn::Abs(hn::LoadU(d, llrs + n)));
        sum = hn::Add(sum, hn::SumsOf8(magnitudes));
    }
    all = hn::GetLane(hn::SumOfLanes(wide, sum));
#endif
    for (; n < count; ++n) all += static_cast<std::uint64_t>(std::abs(int{llrs[n]}));
    return all;
}

}  // namespace tidemill::fec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::fec {

HWY_EXPORT(halve);
HWY_EXPORT(sum_of_magnitudes);

namespace {

// By code rate: the mean magnitude, in units of the natural logarithm, of QPSK at EN 302 307-1, table 13.
constexpr double kUsualMagnitude[] = {1.6, 1.9, 2.2, 2.8, 3.6, 4.3, 5.2, 6.0, 6.7, 8.4, 8.8};

// Some 1.5 dB over the threshold, from where right decisions may turn over (kLdpcMagnitudeCap); there they
// are brought back to a decibel over it, or less.
constexpr double kLoud = 1.4;
constexpr double kQuiet = 1.25;

}  // namespace

double mean_magnitude(std::span<const Llr> llrs) {
    const std::uint64_t sum = HWY_DYNAMIC_DISPATCH(sum_of_magnitudes)(llrs.data(), llrs.size());
    return static_cast<double>(sum) / static_cast<double>(std::max<std::size_t>(llrs.size(), 1));
}

int ldpc_halvings(const Dvbs2Code& code, std::span<const Llr> llrs) {
    const double usual = kUsualMagnitude[static_cast<std::size_t>(code.rate)] * llr_scale(code);
    double mean = mean_magnitude(llrs);
    int halvings = 0;
    if (mean <= kLoud * usual) return halvings;
    for (; mean > kQuiet * usual && halvings < kMostLdpcHalvings; mean /= 2) ++halvings;
    return halvings;
}

void halve_llrs(std::span<const Llr> llrs, int times, std::span<Llr> to) {
    assert(to.size() == llrs.size());
    HWY_DYNAMIC_DISPATCH(halve)(llrs.data(), llrs.size(), times, to.data());
}

}  // namespace tidemill::fec
#endif
