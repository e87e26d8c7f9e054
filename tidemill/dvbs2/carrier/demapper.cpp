#include "tidemill/dvbs2/carrier/demapper.hpp"

#include <cassert>
#include <cmath>

#include "tidemill/dvbs2/carrier/internal/demap_kernel.hpp"
#include "tidemill/dvbs2/standard/constellation.hpp"

namespace tidemill::dvbs2 {

namespace {

// |r - A p|^2 / N0 without what all points share, scaled.
internal::PointMetric metric_of(dsp::Iq point, const SignalQuality& quality, float scale) {
    const float slope = 2 * scale * quality.amplitude / quality.noise_variance;
    return {slope * point.real(), slope * point.imag(), -0.5F * slope * quality.amplitude * std::norm(point)};
}

}  // namespace

void demap(std::span<const dsp::Iq> data, const Modcod& modcod, const SignalQuality& quality, float scale,
           std::span<fec::Llr> llrs) {
    assert(llrs.size() == data.size() * static_cast<std::size_t>(bits_per_symbol(modcod.modulation)));
    if (modcod.modulation == Modulation::qpsk) {
        // Each axis carries one bit, the real axis the first: LLR = 4 A x / (sqrt(2) N0).
        const float factor = std::sqrt(8.0F) * scale * quality.amplitude / quality.noise_variance;
        const std::span<const float> axes(reinterpret_cast<const float*>(data.data()), 2 * data.size());
        internal::demap_axes(axes, factor, llrs);
        return;
    }
    const auto points = constellation_of(modcod);
    const Interleaver interleaver = interleaver_of(modcod);
    internal::PointMetrics metrics{{}, interleaver.columns, scale, {}};
    for (std::size_t label = 0; label < points.size(); ++label) {
        metrics.points[label] = metric_of(points[label], quality, scale);
    }
    for (std::size_t bit = 0; bit < static_cast<std::size_t>(interleaver.columns); ++bit) {
        metrics.llrs[bit] = llrs.data() + static_cast<std::size_t>(interleaver.read_order[bit]) * data.size();
    }
    internal::demap_points(data, metrics);
}

}  // namespace tidemill::dvbs2
