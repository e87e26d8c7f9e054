#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/offset_remover.hpp"
#include "tidemill/dsp/stretch_spectra.hpp"

namespace tidemill::dsp {

/// The part of tuning that all bands of a stream share: takes out the radio's offset of I and Q (DC), and
/// transforms stretches of the samples.
class BandSpectra {
  public:
    explicit BandSpectra(double sample_rate_hz);

    /// Bins of a spectrum, and how many samples go into each that were in none before: some milliseconds of
    /// them.
    static std::size_t bins(double sample_rate_hz);
    static std::size_t fresh(double sample_rate_hz) { return StretchSpectra::fresh(bins(sample_rate_hz)); }

    /// Takes samples, which it uses as scratch, and appends the spectra that they complete. The offset
    /// follows in steps of a stretch, or as the samples come.
    void process(std::span<Iq> samples, AlignedVector<Iq>& spectra);
    /// Appends what is left: silence follows the last sample.
    void finish(AlignedVector<Iq>& spectra) { stretches_.finish(spectra); }

  private:
    OffsetRemover offset_{};
    StretchSpectra stretches_;
};

}  // namespace tidemill::dsp
