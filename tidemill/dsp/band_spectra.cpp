#include "tidemill/dsp/band_spectra.hpp"

#include <algorithm>
#include <bit>

namespace tidemill::dsp {

namespace {

// The longer a stretch, the sharper are the filters that fit into its overlap; beyond the most, transforms no
// longer fit into a core's own cache.
constexpr double kStretchSeconds = 0.0056;
constexpr double kLeastBins = 2048, kMostBins = 16384;

}  // namespace

BandSpectra::BandSpectra(double sample_rate_hz) : stretches_(bins(sample_rate_hz)) {}

std::size_t BandSpectra::bins(double sample_rate_hz) {
    return std::bit_floor(
        static_cast<std::size_t>(std::clamp(sample_rate_hz * kStretchSeconds, kLeastBins, kMostBins)));
}

void BandSpectra::process(std::span<Iq> samples, AlignedVector<Iq>& spectra) {
    const std::size_t piece = StretchSpectra::fresh(stretches_.bins());
    for (; !samples.empty(); samples = samples.subspan(std::min(piece, samples.size()))) {
        const auto some = samples.first(std::min(piece, samples.size()));
        offset_.process(some);
        stretches_.process(some, spectra);
    }
}

}  // namespace tidemill::dsp
