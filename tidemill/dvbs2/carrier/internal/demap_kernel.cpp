#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/carrier/internal/demap_kernel.cpp"
#include "tidemill/dvbs2/carrier/internal/demap_kernel.hpp"

#include <cassert>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

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

// The log of the sum of two likelihoods, from their logs: the larger one and log(1 + exp(-x)) of what they
// differ by, within 0.05, as the parabola that has its value at 0 and ends at kReach.
template <class D>
class Either {
  public:
    Either(D d, float scale)
        : d_(d), reach_(hn::Set(d, kReach * scale)), curve_(hn::Set(d, kLog2 / (kReach * kReach * scale))) {}

    HWY_INLINE hn::Vec<D> operator()(hn::Vec<D> a, hn::Vec<D> b) const {
        const auto short_of = hn::Max(hn::Sub(reach_, hn::Abs(hn::Sub(a, b))), hn::Zero(d_));
        return hn::MulAdd(hn::Mul(curve_, short_of), short_of, hn::Max(a, b));
    }

  private:
    static constexpr float kReach = 3.2F, kLog2 = 0.6931472F;

    D d_;
    hn::Vec<D> reach_, curve_;
};

// All metrics once; then, from the last bit of the label to the first, the sum of either half, which leaves
// the sums of each pair to the bits before.
template <std::size_t kBits, class D>
std::size_t demap_points_from(D d, const float* data, const PointMetrics& metrics, std::size_t i,
                              std::size_t count) {
    const Either<D> either(d, metrics.scale);
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
        hn::Vec<D> x, y, likely[std::size_t{1} << kBits];
        hn::LoadInterleaved2(d, data + 2 * i, x, y);
        // A symbol that is known to be lost carries nothing, and is not one of a ring near the middle.
        const auto is_there = hn::Or(hn::Ne(x, hn::Zero(d)), hn::Ne(y, hn::Zero(d)));
        for (std::size_t label = 0; label < std::size(likely); ++label) {
            const PointMetric& p = metrics.points[label];
            likely[label] =
                hn::MulAdd(x, hn::Set(d, p.x), hn::MulAdd(y, hn::Set(d, p.y), hn::Set(d, p.bias)));
        }
        for (std::size_t bit = kBits; bit-- > 0;) {
            auto zeros = likely[0], ones = likely[1];
            likely[0] = either(zeros, ones);
            for (std::size_t pair = 1; pair < std::size_t{1} << bit; ++pair) {
                const auto zero = likely[2 * pair], one = likely[2 * pair + 1];
                zeros = either(zeros, zero);
                ones = either(ones, one);
                likely[pair] = either(zero, one);
            }
            store_llrs(d, hn::IfThenElseZero(is_there, hn::Sub(zeros, ones)), metrics.llrs[bit] + i);
        }
    }
    return i;
}

template <std::size_t kBits>
void demap_labels(const float* data, const PointMetrics& metrics, std::size_t count) {
    const std::size_t done = demap_points_from<kBits>(hn::ScalableTag<float>(), data, metrics, 0, count);
    demap_points_from<kBits>(hn::CappedTag<float, 1>(), data, metrics, done, count);
}

void demap_all_axes(const float* values, float factor, fec::Llr* llrs, std::size_t count) {
    const std::size_t done = demap_axes_from(hn::ScalableTag<float>(), values, factor, llrs, 0, count);
    demap_axes_from(hn::CappedTag<float, 1>(), values, factor, llrs, done, count);
}

void demap_all_points(const float* data, const PointMetrics& metrics, std::size_t count) {
    switch (metrics.bits) {
        case 3:
            return demap_labels<3>(data, metrics, count);
        case 4:
            return demap_labels<4>(data, metrics, count);
        default:
            return demap_labels<5>(data, metrics, count);
    }
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(demap_all_axes);
HWY_EXPORT(demap_all_points);

void demap_axes(std::span<const float> values, float factor, std::span<fec::Llr> llrs) {
    assert(llrs.size() == values.size());
    HWY_DYNAMIC_DISPATCH(demap_all_axes)(values.data(), factor, llrs.data(), values.size());
}

void demap_points(std::span<const dsp::Iq> data, const PointMetrics& metrics) {
    assert(metrics.bits >= 3 && metrics.bits <= 5);
    // A complex number is stored as its two parts, by the standard's guarantee.
    HWY_DYNAMIC_DISPATCH(demap_all_points)
    (reinterpret_cast<const float*>(data.data()), metrics, data.size());
}

}  // namespace tidemill::dvbs2::internal
#endif
