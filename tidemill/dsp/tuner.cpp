#include "tidemill/dsp/tuner.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/dsp/dsp_error.hpp"
#include "tidemill/dsp/rotator.hpp"

namespace tidemill::dsp {

namespace {

constexpr double kMostRatio = 1 << 20;
constexpr std::size_t kLeastBandBins = 16;

// Signals that fold onto a carrier may be stronger than it by 20 dB, and so may a neighbour that ends the
// filter.
constexpr double kFoldedDb = 80, kNeighbourDb = 72;

// Share of the output's rate, between a band without neighbours and the end of the filter.
constexpr double kRoomAlone = 0.075;

void check(const TunerConfig& c) {
    const auto refuse = [](const std::string& what) { throw DspError("tuner: " + what); };
    if (!(c.sample_rate_hz > 0 && c.output_rate_hz > 0 && c.pass_hz > 0)) refuse("rates must be above 0");
    if (c.sample_rate_hz / c.output_rate_hz > kMostRatio)
        refuse(fmt::format("{} Hz is more than 2^20 times {} Hz", c.sample_rate_hz, c.output_rate_hz));
    const double room = std::min(c.sample_rate_hz, c.output_rate_hz);
    if (2 * c.pass_hz >= room)
        refuse(fmt::format("a band of {} Hz does not fit into {} Hz", 2 * c.pass_hz, room));
    if (c.stop_hz != 0 && c.stop_hz <= c.pass_hz)
        refuse(fmt::format("no room between the band ({} Hz) and what is to be stopped ({} Hz)", c.pass_hz,
                           c.stop_hz));
}

SpectrumBandConfig wide_band(const TunerConfig& wanted, std::size_t decimation) {
    const double pass = wanted.pass_hz / wanted.sample_rate_hz;
    return {.bins = BandSpectra::bins(wanted.sample_rate_hz),
            .offset = wanted.offset_hz / wanted.sample_rate_hz,
            .pass = pass,
            .stop = 1 / static_cast<double>(decimation) - pass,
            .stop_db = kFoldedDb,
            .decimation = decimation};
}

// As narrow as the band's neighbour asks for; without one as narrow as leaves little to what follows.
SpectrumBandConfig narrow_band(const TunerConfig& wanted, std::size_t decimation) {
    SpectrumBandConfig config = wide_band(wanted, decimation);
    const double stop_hz =
        wanted.stop_hz != 0 ? wanted.stop_hz : wanted.pass_hz + kRoomAlone * wanted.output_rate_hz;
    config.stop = std::min(stop_hz / wanted.sample_rate_hz, config.stop);
    if (wanted.stop_hz != 0) config.stop_db = kNeighbourDb;
    return config;
}

// The lowest rate that still holds the band, by a filter that is no longer than the stretches overlap.
std::size_t decimation_of(const TunerConfig& wanted) {
    std::size_t decimation = 1;
    const double rate = wanted.sample_rate_hz;
    const std::size_t most = BandSpectra::bins(rate) / kLeastBandBins;
    while (2 * decimation <= most && rate / static_cast<double>(2 * decimation) >= wanted.output_rate_hz &&
           SpectrumBand::fits(wide_band(wanted, 2 * decimation)))
        decimation *= 2;
    return decimation;
}

}  // namespace

struct BandTuner::Plan {
    double sample_rate_hz;
    double wanted_stop_hz;
    SpectrumBandConfig band;
    RateChange rest;
};

BandTuner::Plan BandTuner::plan_of(const TunerConfig& wanted) {
    check(wanted);
    const std::size_t decimation = decimation_of(wanted);
    Plan plan{wanted.sample_rate_hz, wanted.stop_hz, narrow_band(wanted, decimation),
              RateChange{.from_hz = wanted.sample_rate_hz / static_cast<double>(decimation),
                         .to_hz = wanted.output_rate_hz,
                         .pass_hz = wanted.pass_hz}};
    if (SpectrumBand::fits(plan.band)) {
        plan.rest.clean_hz = plan.band.stop * wanted.sample_rate_hz;
    } else {
        plan.band = wide_band(wanted, decimation);
        plan.rest.stop_hz = wanted.stop_hz;
    }
    return plan;
}

BandTuner::BandTuner(const TunerConfig& config) : BandTuner(plan_of(config)) {}

BandTuner::BandTuner(const Plan& plan)
    : bins_(plan.band.bins),
      is_all_(plan.band.decimation == 1 && plan.wanted_stop_hz == 0),
      sample_rate_hz_(plan.sample_rate_hz),
      band_(plan.band),
      rest_(plan.rest) {}

void BandTuner::process(std::span<const Iq> spectrum, std::span<const double> offsets_hz,
                        std::vector<Iq>& out) {
    band_.tune(offsets_hz[offsets_hz.size() / 2] / sample_rate_hz_);
    frequencies_.clear();
    for (const double hz : offsets_hz) frequencies_.push_back(-band_.place_of(hz / sample_rate_hz_));
    const std::span<const Iq> samples = band_.take(spectrum);
    turn(samples, band_.turn_cycles(), out);
}

void BandTuner::process_samples(std::span<const Iq> samples, std::span<const double> offsets_hz,
                                std::vector<Iq>& out) {
    frequencies_.clear();
    for (const double hz : offsets_hz) frequencies_.push_back(-hz / sample_rate_hz_);
    turn(samples, 0, out);
}

// By the oscillator, and by what they want to be turned besides; then to the rate that is wanted.
void BandTuner::turn(std::span<const Iq> samples, double besides_cycles, std::vector<Iq>& out) {
    const bool is_done = rest_.changes_nothing();
    if (!is_done) turned_.clear();
    std::vector<Iq>& to = is_done ? out : turned_;
    to.resize(to.size() + samples.size());
    const std::span<Iq> turned = std::span(to).last(samples.size());
    const std::size_t parts = frequencies_.size();
    for (std::size_t k = 0; k < parts; ++k) {
        const std::size_t from = samples.size() * k / parts, count = samples.size() * (k + 1) / parts - from;
        rotate(samples.subspan(from, count), {phase_cycles_ + besides_cycles, frequencies_[k], 1},
               turned.subspan(from, count));
        phase_cycles_ += frequencies_[k] * static_cast<double>(count);
        phase_cycles_ -= std::floor(phase_cycles_);
    }
    if (!is_done) rest_.process(turned_, out);
}

Tuner::Tuner(const TunerConfig& config)
    : offset_hz_(config.offset_hz),
      stretch_samples_(BandSpectra::fresh(config.sample_rate_hz)),
      tuner_(config),
      band_(config.sample_rate_hz) {}

// A stretch at a time, so that its spectrum is near when the band is taken out.
void Tuner::process(std::span<Iq> samples, std::vector<Iq>& out) {
    while (!samples.empty()) {
        const std::size_t count = std::min(samples.size(), stretch_samples_);
        band_.process(samples.first(count), spectra_);
        take_spectra(out);
        samples = samples.subspan(count);
    }
}

void Tuner::finish(std::vector<Iq>& out) {
    band_.finish(spectra_);
    take_spectra(out);
    tuner_.finish(out);
}

void Tuner::take_spectra(std::vector<Iq>& out) {
    const std::span<const Iq> spectra = spectra_;
    for (std::size_t at = 0; at < spectra.size(); at += tuner_.bins())
        tuner_.process(spectra.subspan(at, tuner_.bins()), {&offset_hz_, 1}, out);
    spectra_.clear();
}

}  // namespace tidemill::dsp
