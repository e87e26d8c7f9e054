#include "tidemill/dvbs2/search/carrier_rates.hpp"

#include <algorithm>
#include <array>

#include "tidemill/dsp/band_spectra.hpp"
#include "tidemill/dsp/tuner.hpp"
#include "tidemill/dvbs2/search/internal/source_pieces.hpp"
#include "tidemill/dvbs2/search/symbol_rate_search.hpp"

namespace tidemill::dvbs2 {

namespace {

// The rate at which a carrier is measured: its symbol rate must be below half of it.
constexpr double kMeasuredRatio = 2.4;
constexpr double kRateTolerance = 0.06;
// A quarter of the samples will do where the line is so clear: it lies within a fifth of a bin, 2 ppm.
constexpr std::size_t kFewRateSamples = kSymbolRateSearchSamples / 4;
constexpr double kClearRate = 60;
// Rates may be farther off where the spectrum is rough; so much clearer must a rate be there.
constexpr std::array kRatesBeside{0.9, 1.05};
constexpr double kClearer = 2;

dsp::TunerConfig measuring_tuner(double sample_rate_hz, const FoundCarrier& carrier) {
    const double rate_hz = kMeasuredRatio * carrier.symbol_rate_hz;
    const double band = carrier.symbol_rate_hz * (1 + carrier.rolloff) / 2 * 1.03;
    return {.sample_rate_hz = sample_rate_hz,
            .output_rate_hz = rate_hz,
            .offset_hz = carrier.offset_hz,
            .pass_hz = std::min(band, 0.47 * std::min(rate_hz, sample_rate_hz))};
}

/// Measurement of one carrier's rate, from the spectra of its band.
class RateMeasurement {
  public:
    RateMeasurement(double sample_rate_hz, const FoundCarrier& carrier)
        : offset_hz_(carrier.offset_hz),
          rate_hz_(kMeasuredRatio * carrier.symbol_rate_hz),
          tuner_(measuring_tuner(sample_rate_hz, carrier)) {}

    bool is_done() const { return is_clear_ || samples_.size() >= kSymbolRateSearchSamples; }

    void take(std::span<const dsp::Iq> spectrum) {
        const bool were_few = samples_.size() < kFewRateSamples;
        tuner_.process(spectrum, {&offset_hz_, 1}, samples_);
        if (!were_few || samples_.size() < kFewRateSamples) return;
        look();
        is_clear_ = rate_ && rate_->clearness > kClearRate;
    }

    std::optional<double> finish() {
        if (!is_clear_) {
            look();
            look_beside();
        }
        samples_ = {};
        if (!rate_) return std::nullopt;
        return rate_->per_sample * rate_hz_;
    }

  private:
    void look_beside() {
        for (const double beside : kRatesBeside) {
            const auto other = symbol_rate_near(samples_, beside / kMeasuredRatio, kRateTolerance);
            const double needed = std::max(kClearRate, rate_ ? kClearer * rate_->clearness : 0);
            if (other && other->clearness > needed) rate_ = other;
        }
    }

    void look() { rate_ = symbol_rate_near(samples_, 1 / kMeasuredRatio, kRateTolerance); }

    double offset_hz_, rate_hz_;
    dsp::BandTuner tuner_;
    std::vector<dsp::Iq> samples_{};
    std::optional<PulsingRate> rate_{};
    bool is_clear_ = false;
};

}  // namespace

std::vector<std::optional<double>> measure_symbol_rates(io::SampleSource& source,
                                                        std::span<const FoundCarrier> carriers) {
    const double sample_rate_hz = source.sample_rate_hz().value_or(0);
    std::vector<RateMeasurement> all;
    for (const FoundCarrier& carrier : carriers) all.emplace_back(sample_rate_hz, carrier);
    dsp::BandSpectra band(sample_rate_hz);
    dsp::AlignedVector<dsp::Iq> spectra;
    const std::size_t bins = dsp::BandSpectra::bins(sample_rate_hz);
    internal::read_pieces(source, [&](std::span<dsp::Iq> piece) {
        spectra.clear();
        band.process(piece, spectra);
        for (RateMeasurement& one : all)
            for (std::size_t at = 0; at < spectra.size() && !one.is_done(); at += bins)
                one.take(std::span(spectra).subspan(at, bins));
        return !std::ranges::all_of(all, &RateMeasurement::is_done);
    });
    std::vector<std::optional<double>> rates;
    for (RateMeasurement& one : all) rates.push_back(one.finish());
    return rates;
}

}  // namespace tidemill::dvbs2
