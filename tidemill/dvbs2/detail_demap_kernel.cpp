#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/detail_demap_kernel.cpp"
#include "tidemill/dvbs2/detail_demap_kernel.hpp"

#include <cassert>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
void store_llrs(D d, hn::Vec<D> values, fec::Llr* to) {
    // -128 has no opposite, so it is never written.
    const auto clamped = hn::Clamp(values, hn::Set(d, -127.0F), hn::Set(d, 127.0F));
    const hn::Rebind<fec::Llr, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(clamped)), narrow, to);
}

template <class D>
std::size_t demap_axes_from(D d, const float* values, float factor, fec::Llr* llrs, std::size_t i,
                            std::size_t count) {
    const auto scale = hn::Set(d, factor);
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
        store_llrs(d, hn::Mul(hn::LoadU(d, values + i), scale), llrs + i);
    }
    return i;
}

template <class D>
hn::Vec<D> best_metric(D d, hn::Vec<D> x, hn::Vec<D> y, const PointMetric* points, int count) {
    const auto metric = [&](const PointMetric& p) HWY_ATTR {
        return hn::MulAdd(x, hn::Set(d, p.x), hn::MulAdd(y, hn::Set(d, p.y), hn::Set(d, p.bias)));
    };
    auto best = metric(points[0]);
    for (int k = 1; k < count; ++k) {
        best = hn::Max(best, metric(points[k]));
    }
    return best;
}

template <class D>
std::size_t demap_bit_from(D d, const float* data, const BitMetrics& metrics, fec::Llr* llrs, std::size_t i,
                           std::size_t count) {
    const PointMetric* zeros = metrics.points.data();
    const PointMetric* ones = zeros + metrics.points_per_value;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
        hn::Vec<D> x, y;
        hn::LoadInterleaved2(d, data + 2 * i, x, y);
        store_llrs(d,
                   hn::Sub(best_metric(d, x, y, zeros, metrics.points_per_value),
                           best_metric(d, x, y, ones, metrics.points_per_value)),
                   llrs + i);
    }
    return i;
}

void demap_all_axes(const float* values, float factor, fec::Llr* llrs, std::size_t count) {
    const std::size_t done = demap_axes_from(hn::ScalableTag<float>(), values, factor, llrs, 0, count);
    demap_axes_from(hn::CappedTag<float, 1>(), values, factor, llrs, done, count);
}

void demap_whole_bit(const float* data, const BitMetrics& metrics, fec::Llr* llrs, std::size_t count) {
    const std::size_t done = demap_bit_from(hn::ScalableTag<float>(), data, metrics, llrs, 0, count);
    demap_bit_from(hn::CappedTag<float, 1>(), data, metrics, llrs, done, count);
}

}  // namespace tidemill::dvbs2::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::detail {

HWY_EXPORT(demap_all_axes);
HWY_EXPORT(demap_whole_bit);

void demap_axes(std::span<const float> values, float factor, std::span<fec::Llr> llrs) {
    assert(llrs.size() == values.size());
    HWY_DYNAMIC_DISPATCH(demap_all_axes)(values.data(), factor, llrs.data(), values.size());
}

void demap_bit(std::span<const dsp::Iq> data, const BitMetrics& metrics, std::span<fec::Llr> llrs) {
    assert(llrs.size() == data.size());
    // A complex number is stored as its two parts, by the standard's guarantee.
    HWY_DYNAMIC_DISPATCH(demap_whole_bit)
    (reinterpret_cast<const float*>(data.data()), metrics, llrs.data(), data.size());
}

}  // namespace tidemill::dvbs2::detail
#endif
