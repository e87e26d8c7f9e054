#include "tidemill/dvbs2/tuner/carrier_tuner.hpp"

#include <algorithm>
#include <cmath>

namespace tidemill::dvbs2 {

namespace {

// Samples between two moves of the oscillator along a known way.
constexpr double kDopplerPiece = 512;

dsp::TunerConfig checked_config(double sample_rate_hz, const Tuning& tuning) {
    check_tuning(sample_rate_hz, tuning);
    return tuner_config_of(sample_rate_hz, tuning);
}

}  // namespace

CarrierTuner::CarrierTuner(double sample_rate_hz, const Tuning& tuning)
    : sample_rate_hz_(sample_rate_hz),
      tuning_(tuning),
      first_offset_hz_(tuning.offset_hz),
      tuner_(checked_config(sample_rate_hz, tuning)),
      follower_(tuning.rolloff, tuned_rate_hz(sample_rate_hz, tuning) / tuning.symbol_rate_hz) {
    const auto fresh = static_cast<double>(dsp::BandSpectra::fresh(sample_rate_hz));
    offsets_hz_.resize(tuning.doppler ? static_cast<std::size_t>(std::ceil(fresh / kDopplerPiece)) : 1);
}

void CarrierTuner::process(std::span<const dsp::Iq> spectra, std::vector<dsp::Iq>& out) {
    for (std::size_t at = 0; at < spectra.size(); at += tuner_.bins()) {
        const std::size_t before = out.size();
        lay_oscillator(static_cast<double>(tuner_.delay()));
        tuner_.process(spectra.subspan(at, tuner_.bins()), offsets_hz_, out);
        follow(std::span(out).subspan(before));
    }
}

void CarrierTuner::process_samples(std::span<const dsp::Iq> samples, std::vector<dsp::Iq>& out) {
    const std::size_t before = out.size();
    lay_oscillator(0);
    tuner_.process_samples(samples, offsets_hz_, out);
    follow(std::span(out).subspan(before));
}

void CarrierTuner::follow(std::span<const dsp::Iq> tuned) {
    follower_.add(tuned);
    const double followed_hz = follower_.correction() * tuning_.symbol_rate_hz;
    followed_hz_.store(tuning_.offset_hz - first_offset_hz_ + followed_hz, std::memory_order_relaxed);
}

// Through the next stretch. It is known by its number when its samples were there, on any thread at any time.
void CarrierTuner::lay_oscillator(double late_samples) {
    const double offset_hz = tuning_.offset_hz + follower_.correction() * tuning_.symbol_rate_hz;
    const auto fresh = static_cast<double>(dsp::BandSpectra::fresh(sample_rate_hz_));
    const double first = static_cast<double>(stretches_++) * fresh - late_samples;
    const double piece = fresh / static_cast<double>(offsets_hz_.size());
    for (std::size_t k = 0; k < offsets_hz_.size(); ++k) {
        const double middle_s = (first + (static_cast<double>(k) + 0.5) * piece) / sample_rate_hz_;
        offsets_hz_[k] = offset_hz + (tuning_.doppler ? tuning_.doppler->hz_at(middle_s) : 0);
    }
}

}  // namespace tidemill::dvbs2
