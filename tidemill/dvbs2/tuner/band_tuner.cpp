#include "tidemill/dvbs2/tuner/band_tuner.hpp"

#include <algorithm>

namespace tidemill::dvbs2 {

namespace {

// Stretches last some milliseconds at the most.
constexpr double kFastRate = 1e6;
constexpr std::size_t kBins = 4096, kSlowBins = 1024;
constexpr std::size_t kLeastBandBins = 16;

// What folds onto a carrier may be stronger than it by 20 dB, and so may a neighbour that ends the filter.
constexpr double kFoldedDb = 80, kNeighbourDb = 72;

// Symbol rates between a carrier without neighbours and the end of the filter.
constexpr double kRoomAlone = 0.15;

dsp::SpectrumBandConfig wide_band(double rate_hz, const dsp::TunerConfig& wanted, std::size_t decimation) {
    const double pass = wanted.pass_hz / rate_hz;
    return {.bins = BandSpectra::bins(rate_hz),
            .offset = wanted.offset_hz / rate_hz,
            .pass = pass,
            .stop = std::min(1 / static_cast<double>(decimation) - pass, 0.5),
            .stop_db = kFoldedDb,
            .decimation = decimation};
}

// As narrow as the carrier's neighbour asks for; without one as narrow as leaves little to what follows.
dsp::SpectrumBandConfig narrow_band(double rate_hz, const dsp::TunerConfig& wanted, std::size_t decimation) {
    dsp::SpectrumBandConfig config = wide_band(rate_hz, wanted, decimation);
    const double room = kRoomAlone * wanted.output_rate_hz / 2;
    config.stop = (wanted.stop_hz != 0 ? wanted.stop_hz : wanted.pass_hz + room) / rate_hz;
    config.stop_db = wanted.stop_hz != 0 ? kNeighbourDb : kFoldedDb;
    return config;
}

// The lowest rate that still holds the carrier, by a filter that is no longer than the stretches overlap.
std::size_t decimation_of(double rate_hz, const dsp::TunerConfig& wanted) {
    std::size_t decimation = 1;
    const std::size_t most = BandSpectra::bins(rate_hz) / kLeastBandBins;
    while (2 * decimation <= most && rate_hz / static_cast<double>(2 * decimation) >= wanted.output_rate_hz &&
           dsp::SpectrumBand::fits(wide_band(rate_hz, wanted, 2 * decimation)))
        decimation *= 2;
    return decimation;
}

}  // namespace

BandSpectra::BandSpectra(double sample_rate_hz) : stretches_(bins(sample_rate_hz)) {}

std::size_t BandSpectra::bins(double sample_rate_hz) {
    return sample_rate_hz >= kFastRate ? kBins : kSlowBins;
}

void BandSpectra::process(std::span<dsp::Iq> samples, dsp::AlignedVector<dsp::Iq>& spectra) {
    const std::size_t piece = dsp::StretchSpectra::fresh(stretches_.bins());
    for (; !samples.empty(); samples = samples.subspan(std::min(piece, samples.size()))) {
        const auto some = samples.first(std::min(piece, samples.size()));
        offset_.process(some);
        stretches_.process(some, spectra);
    }
}

struct BandTuner::Plan {
    dsp::SpectrumBandConfig band;
    dsp::TunerConfig rest;
    double flushed_samples;
};

BandTuner::Plan BandTuner::plan_of(double sample_rate_hz, const Tuning& tuning) {
    check_tuning(sample_rate_hz, tuning);
    dsp::TunerConfig rest = tuner_config_of(sample_rate_hz, tuning);
    const std::size_t decimation = decimation_of(sample_rate_hz, rest);
    dsp::SpectrumBandConfig band = narrow_band(sample_rate_hz, rest, decimation);
    if (dsp::SpectrumBand::fits(band)) {
        rest.stop_hz = 0;
        rest.clean_hz = band.stop * sample_rate_hz;
    } else {
        band = wide_band(sample_rate_hz, rest, decimation);
    }
    rest.sample_rate_hz = sample_rate_hz / static_cast<double>(decimation);
    rest.removes_offset = false;
    return {band, rest, kFlushSymbols * rest.sample_rate_hz / tuning.symbol_rate_hz};
}

BandTuner::BandTuner(double sample_rate_hz, const Tuning& tuning)
    : BandTuner(plan_of(sample_rate_hz, tuning)) {}

BandTuner::BandTuner(const Plan& plan)
    : bins_(plan.band.bins), flushed_samples_(plan.flushed_samples), band_(plan.band), tuner_([&] {
          dsp::TunerConfig rest = plan.rest;
          rest.offset_hz = band_.offset_left() * rest.sample_rate_hz;
          return rest;
      }()) {}

void BandTuner::process(std::span<const dsp::Iq> spectra, std::vector<dsp::Iq>& out) {
    for (std::size_t at = 0; at < spectra.size(); at += bins_) {
        narrow_.clear();
        band_.process(spectra.subspan(at, bins_), narrow_);
        tuner_.process(narrow_, out);
    }
}

void BandTuner::finish(std::vector<dsp::Iq>& out) {
    narrow_.assign(static_cast<std::size_t>(flushed_samples_) + 1, dsp::Iq{});
    tuner_.process(narrow_, out);
}

}  // namespace tidemill::dvbs2
