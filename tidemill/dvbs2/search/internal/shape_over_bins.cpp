#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tidemill/dvbs2/search/internal/shape_over_bins.cpp"
#include "tidemill/dvbs2/search/internal/shape_over_bins.hpp"

#include <algorithm>
#include <cstddef>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tidemill/dsp/pulse.hpp"

HWY_BEFORE_NAMESPACE();
namespace tidemill::dvbs2::internal::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds to each of four vectors of sums the values so far before and behind it, by `weights`.
template <class D>
void add_some(D d, const double* values, const double* weights, std::ptrdiff_t nearest, std::size_t count,
              double* sums) {
    const std::size_t lanes = hn::Lanes(d);
    auto s0 = hn::LoadU(d, sums), s1 = hn::LoadU(d, sums + lanes), s2 = hn::LoadU(d, sums + 2 * lanes),
         s3 = hn::LoadU(d, sums + 3 * lanes);
    const double *before = values - nearest, *behind = values + nearest;
    for (std::size_t k = 0; k < count; ++k, --before, ++behind) {
        const auto weight = hn::Set(d, weights[k]);
        const auto pair = [&](std::size_t at) HWY_ATTR {
            return hn::Add(hn::LoadU(d, before + at), hn::LoadU(d, behind + at));
        };
        s0 = hn::MulAdd(weight, pair(0), s0);
        s1 = hn::MulAdd(weight, pair(lanes), s1);
        s2 = hn::MulAdd(weight, pair(2 * lanes), s2);
        s3 = hn::MulAdd(weight, pair(3 * lanes), s3);
    }
    hn::StoreU(s0, d, sums);
    hn::StoreU(s1, d, sums + lanes);
    hn::StoreU(s2, d, sums + 2 * lanes);
    hn::StoreU(s3, d, sums + 3 * lanes);
}

void add_edges(const double* values, const double* weights, std::ptrdiff_t nearest, std::size_t count,
               double* sums, std::size_t places) {
    const hn::ScalableTag<double> d;
    const hn::CappedTag<double, 1> one;
    const std::size_t step = 4 * hn::Lanes(d);
    std::size_t at = 0;
    for (; at + step <= places; at += step) add_some(d, values + at, weights, nearest, count, sums + at);
    for (; at < places; at += 4) add_some(one, values + at, weights, nearest, count, sums + at);
}

}  // namespace tidemill::dvbs2::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tidemill::dvbs2::internal {

HWY_EXPORT(add_edges);

namespace {

// Places are multiplied four at a time.
constexpr std::size_t kPlacesAtOnce = 4;

}  // namespace

/// A shape's values at whole bins from its middle: one up to `flat` of them, then `falling`; compared up to
/// `reach`.
struct ShapeOverBins::Edges {
    explicit Edges(const CarrierShape& shape) : reach(static_cast<std::size_t>(shape.reach())) {
        for (std::size_t k = 0; k <= reach; ++k) {
            const double value =
                dsp::raised_cosine_spectrum(static_cast<double>(k) / shape.bins, shape.rolloff);
            if (value == 1) flat = k;
            if (value < 1 && value > 0) falling.push_back(value);
            values.push_back(value);
        }
    }

    std::size_t reach, flat = 0;
    std::vector<double> falling{};
    std::vector<double> values{};
};

void sliding_sums(std::span<const double> values, std::size_t width, std::vector<double>& sums) {
    sums.resize(values.size() - width + 1);
    // Each sum is that to the end of its stretch of `width` values, and that of the next one's beginning.
    for (std::size_t begin = 0; begin < sums.size(); begin += width) {
        const std::size_t end = std::min(begin + width, sums.size());
        double sum = 0;
        for (std::size_t k = begin + width; k-- > begin;) {
            sum += values[k];
            if (k < end) sums[k] = sum;
        }
        sum = 0;
        for (std::size_t k = begin + 1; k < end; ++k) sums[k] += sum += values[k + width - 1];
    }
}

void ShapeOverBins::sum(const Edges& edges, const ObservedSpectrum& spectrum) {
    const std::size_t bins = spectrum.power.size(), reach = edges.reach;
    power_.assign(bins + 2 * reach + kPlacesAtOnce, 0);
    std::ranges::copy(spectrum.power, power_.begin() + static_cast<std::ptrdiff_t>(reach));
    squares_.resize(power_.size());
    std::ranges::transform(power_, squares_.begin(), [](double power) { return power * power; });
    sliding_sums(power_, 2 * reach + 1, power_sums_);
    sliding_sums(squares_, 2 * reach + 1, square_sums_);
    // Bins before the flat middle of the first place are in no sum.
    sliding_sums(std::span(power_).subspan(reach - edges.flat), 2 * edges.flat + 1, products_);
    HWY_DYNAMIC_DISPATCH(add_edges)
    (power_.data() + reach, edges.falling.data(), static_cast<std::ptrdiff_t>(edges.flat) + 1,
     edges.falling.size(), products_.data(), bins);
}

std::span<const ShapeFit> ShapeOverBins::fit(const CarrierShape& shape, const ObservedSpectrum& spectrum) {
    const Edges edges(shape);
    sum(edges, spectrum);
    // Sums of the shape's values from the one at its lower end on.
    std::vector<double> sums{0}, squares{0};
    const std::size_t reach = edges.reach, bins = spectrum.power.size();
    for (std::size_t k = 0; k <= 2 * reach; ++k) {
        const double value = edges.values[k < reach ? reach - k : k - reach];
        sums.push_back(sums.back() + value), squares.push_back(squares.back() + value * value);
    }
    fits_.resize(bins);
    for (std::size_t k = 0; k < bins; ++k) {
        const std::size_t from = reach - std::min(reach, k), to = reach + std::min(reach, bins - 1 - k) + 1;
        fits_[k] = ShapeSums{.n = static_cast<double>(to - from),
                             .p = power_sums_[k],
                             .t = sums[to] - sums[from],
                             .pp = square_sums_[k],
                             .tt = squares[to] - squares[from],
                             .pt = products_[k]}
                       .fit(shape.reach(), spectrum.stretches);
    }
    return fits_;
}

}  // namespace tidemill::dvbs2::internal
#endif
