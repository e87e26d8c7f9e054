#include "tidemill/dvbs2/search/narrow_bands.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dsp/band_spectra.hpp"
#include "tidemill/dvbs2/search/internal/source_pieces.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kNarrow = 1.0 / 100;
constexpr double kSurroundings = 8;
constexpr std::size_t kMostDecimation = 64;
// Share of the lower rate to either side that is free of what folds.
constexpr double kFreeOfFolds = 0.25;

/// One of them while it is taken out.
struct Taken {
    dsp::SpectrumBand band;
    std::size_t most;
    NarrowBand narrow;
};

dsp::SpectrumBandConfig config_of(double rate_hz, const FoundCarrier& carrier, std::size_t decimation) {
    const double share = 1 / static_cast<double>(decimation);
    return {.bins = dsp::BandSpectra::bins(rate_hz),
            .offset = carrier.offset_hz / rate_hz,
            .pass = kFreeOfFolds * share,
            .stop = std::min((1 - kFreeOfFolds) * share, 0.5),
            .decimation = decimation};
}

Taken begin_taking(double rate_hz, const FoundCarrier& carrier, double seconds) {
    std::size_t decimation = 1;
    while (2 * decimation <= kMostDecimation &&
           rate_hz / static_cast<double>(2 * decimation) >= kSurroundings * carrier.symbol_rate_hz &&
           dsp::SpectrumBand::fits(config_of(rate_hz, carrier, 2 * decimation)))
        decimation *= 2;
    dsp::SpectrumBand band(config_of(rate_hz, carrier, decimation));
    const double low_rate_hz = rate_hz / static_cast<double>(decimation);
    const NarrowBand narrow{.sample_rate_hz = low_rate_hz,
                            .offset_hz = band.place_of(carrier.offset_hz / rate_hz) * low_rate_hz};
    return {std::move(band), static_cast<std::size_t>(seconds * low_rate_hz), narrow};
}

}  // namespace

bool is_narrow(double sample_rate_hz, const FoundCarrier& carrier) {
    return carrier.symbol_rate_hz < kNarrow * sample_rate_hz;
}

std::vector<NarrowBand> narrow_bands(io::SampleSource& source, std::span<const FoundCarrier> carriers,
                                     std::span<const double> seconds) {
    const double rate_hz = source.sample_rate_hz().value();
    std::vector<Taken> all;
    for (std::size_t k = 0; k < carriers.size(); ++k)
        all.push_back(begin_taking(rate_hz, carriers[k], seconds[k]));
    const std::size_t bins = dsp::BandSpectra::bins(rate_hz);
    dsp::BandSpectra band(rate_hz);
    dsp::AlignedVector<dsp::Iq> spectra;
    const auto is_full = [](const Taken& one) { return one.narrow.samples.size() >= one.most; };
    internal::read_pieces(source, [&](std::span<dsp::Iq> piece) {
        spectra.clear();
        band.process(piece, spectra);
        for (Taken& one : all)
            for (std::size_t at = 0; at < spectra.size() && !is_full(one); at += bins)
                one.band.process(std::span(spectra).subspan(at, bins), one.narrow.samples);
        return !std::ranges::all_of(all, is_full);
    });
    std::vector<NarrowBand> narrow;
    for (Taken& one : all) narrow.push_back(std::move(one.narrow));
    return narrow;
}

}  // namespace tidemill::dvbs2
