#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/tuner.hpp"
#include "tidemill/dvbs2/tuner/carrier_follower.hpp"
#include "tidemill/dvbs2/tuner/tuning.hpp"

namespace tidemill::dvbs2 {

/// Brings one carrier of a band to a few samples a symbol, as a receiver takes them, from the spectra that
/// all carriers of the band share. A carrier that drifts is followed slowly, so that it stays in the middle
/// of the filters; one whose way is known, along it.
class CarrierTuner {
  public:
    /// Throws as check_tuning().
    CarrierTuner(double sample_rate_hz, const Tuning& tuning);

    /// Takes spectra of dsp::BandSpectra, one behind the other, and appends what they complete.
    void process(std::span<const dsp::Iq> spectra, std::vector<dsp::Iq>& out);
    /// Whether nothing lies beside the carrier that a filter would have to stop: then a carrier that has its
    /// band for itself is tuned to without spectra, by the samples of a stretch at a time.
    bool spares_spectra() const { return tuner_.is_all(); }
    void process_samples(std::span<const dsp::Iq> samples, std::vector<dsp::Iq>& out);

    /// Appends what the filters still hold, for silence follows.
    void finish(std::vector<dsp::Iq>& out) { tuner_.finish(out); }

    /// Takes the next samples from there. By the thread that has it work.
    void move_to(double offset_hz) { tuning_.offset_hz = offset_hz; }

    /// How far the carrier was followed from the first tuning's offset, or was moved, without what was known;
    /// from any thread.
    double followed_hz() const { return followed_hz_.load(std::memory_order_relaxed); }

  private:
    void lay_oscillator(double late_samples);
    void follow(std::span<const dsp::Iq> tuned);

    double sample_rate_hz_;
    Tuning tuning_;
    double first_offset_hz_;
    dsp::BandTuner tuner_;
    std::uint64_t stretches_ = 0;       // so far
    std::vector<double> offsets_hz_{};  // through the next one
    CarrierFollower follower_;
    std::atomic<double> followed_hz_{0};
};

}  // namespace tidemill::dvbs2
