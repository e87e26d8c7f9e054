#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/fft.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Spectra of overlapping stretches of a stream, from which any number of bands can be taken (overlap-save,
/// Stockham 1966): the part of the work that bands share.
class StretchSpectra {
  public:
    /// Stretches of `bins` samples, a power of two from 16 on; three quarters of each are new.
    explicit StretchSpectra(std::size_t bins);

    std::size_t bins() const { return fft_.size(); }
    static std::size_t fresh(std::size_t bins) { return bins / 4 * 3; }

    /// Appends the spectrum of each stretch that the samples complete.
    void process(std::span<const Iq> samples, AlignedVector<Iq>& spectra);
    /// The same for the last stretch, and one more, for silence follows the last sample.
    void finish(AlignedVector<Iq>& spectra);

  private:
    void transform(AlignedVector<Iq>& spectra);

    Fft fft_;
    AlignedVector<Iq> stretch_;
    std::size_t filled_;
};

/// Which band is taken out of stretches. Frequencies in cycles per sample.
struct SpectrumBandConfig {
    std::size_t bins = 4096;  ///< of the spectra
    double offset = 0;        ///< what comes to frequency zero, but for what is left
    double pass = 0;          ///< what is kept to either side of it
    double stop = 0.5;        ///< from here on all is `stop_db` down
    double stop_db = 80;
    std::size_t decimation = 1;  ///< a power of two up to a quarter of the bins
};

/// One band of a stream's stretches, at a lower rate.
class SpectrumBand {
  public:
    /// Throws DspError where the filter is longer than the stretches overlap: see fits().
    explicit SpectrumBand(const SpectrumBandConfig& config);

    /// Whether the stretches overlap by as much as the filter is long.
    static bool fits(const SpectrumBandConfig& config);

    /// Where the band's middle comes to lie, in cycles per output sample: the offset is taken out by whole
    /// bins.
    double offset_left() const { return offset_left_; }

    /// Takes the spectra one after the other, and appends what each holds of the band.
    void process(std::span<const Iq> spectrum, std::vector<Iq>& out);

  private:
    void gather(std::span<const Iq> spectrum);

    std::size_t bins_, decimation_;
    std::ptrdiff_t first_;         // bin of the first value of the response
    unsigned quarters_a_stretch_;  // turns of the band from one stretch to the next
    unsigned quarters_;
    double offset_left_;
    std::vector<Iq> response_{};
    Fft inverse_;
    AlignedVector<Iq> band_;
    AlignedVector<Iq> samples_;
};

}  // namespace tidemill::dsp
