#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/offset_remover.hpp"
#include "tidemill/dsp/stretch_spectra.hpp"
#include "tidemill/dsp/tuner.hpp"
#include "tidemill/dvbs2/tuner/tuning.hpp"

namespace tidemill::dvbs2 {

/// The part of tuning that all carriers of a band share: takes out the radio's offset (DC), and transforms
/// stretches of the samples.
class BandSpectra {
  public:
    explicit BandSpectra(double sample_rate_hz);

    /// Bins of a spectrum, and how many samples go into each that were in none before.
    static std::size_t bins(double sample_rate_hz);
    static std::size_t fresh(double sample_rate_hz) {
        return dsp::StretchSpectra::fresh(bins(sample_rate_hz));
    }

    /// Takes samples, which it uses as scratch, and appends the spectra that they complete. The offset
    /// follows in steps of a stretch, or as the samples come.
    void process(std::span<dsp::Iq> samples, dsp::AlignedVector<dsp::Iq>& spectra);
    /// Appends what is left: silence follows the last sample.
    void finish(dsp::AlignedVector<dsp::Iq>& spectra) { stretches_.finish(spectra); }

  private:
    dsp::OffsetRemover offset_{};
    dsp::StretchSpectra stretches_;
};

/// Brings one carrier of a band to two samples a symbol, from the spectra that all share.
class BandTuner {
  public:
    /// Throws as check_tuning().
    BandTuner(double sample_rate_hz, const Tuning& tuning);

    /// Appends what spectra, one behind the other, complete.
    void process(std::span<const dsp::Iq> spectra, std::vector<dsp::Iq>& out);
    /// Appends what the filters still hold, for silence follows.
    void finish(std::vector<dsp::Iq>& out);

  private:
    struct Plan;
    static Plan plan_of(double sample_rate_hz, const Tuning& tuning);
    explicit BandTuner(const Plan& plan);

    std::size_t bins_;
    double flushed_samples_;
    dsp::SpectrumBand band_;
    dsp::Tuner tuner_;
    std::vector<dsp::Iq> narrow_{};
};

}  // namespace tidemill::dvbs2
