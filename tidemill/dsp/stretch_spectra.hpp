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
    /// Stretches of `bins` samples, a power of two from 16 on; seven eighths of each are new.
    explicit StretchSpectra(std::size_t bins);

    std::size_t bins() const { return fft_.size(); }
    static std::size_t fresh(std::size_t bins) { return bins - bins / 8; }

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

/// Band that is taken out of stretches. Frequencies in cycles per sample.
struct SpectrumBandConfig {
    std::size_t bins = 4096;  ///< of the spectra
    double offset = 0;        ///< what comes to frequency zero, but for what is left
    double pass = 0;          ///< what is kept to either side of it
    double stop = 0.5;        ///< from here on all is `stop_db` down
    double stop_db = 80;
    std::size_t decimation = 1;  ///< a power of two up to an eighth of the bins
};

/// One band of a stream's stretches, at a lower rate. It is brought to zero by whole bins: where its middle
/// comes to lie, place_of() gives.
class SpectrumBand {
  public:
    /// Throws DspError where the filter is longer than the stretches overlap: see fits().
    explicit SpectrumBand(const SpectrumBandConfig& config);

    /// Whether the stretches overlap by as much as the filter is long.
    static bool fits(const SpectrumBandConfig& config);

    /// Lays the band on another offset, from the next spectrum on. As long as that is within a bin of where
    /// the band lies, nothing moves; when it does, the phase of what comes out goes on, and only places
    /// change.
    void tune(double offset);

    /// Where a frequency of the input comes to lie, in cycles per output sample.
    double place_of(double frequency) const;

    /// Samples of the input by which the filter's output comes late.
    std::size_t delay() const { return reach_; }

    /// Takes the spectra one after the other, and appends what each holds of the band.
    void process(std::span<const Iq> spectrum, std::vector<Iq>& out);

    /// The same without the rotation: the samples still have to be turned by turn_cycles(). Both are gone
    /// with the next spectrum.
    std::span<const Iq> take(std::span<const Iq> spectrum);
    double turn_cycles() const;

  private:
    void gather(std::span<const Iq> spectrum);
    void turn_by(std::ptrdiff_t bins, std::size_t samples);

    std::size_t bins_, decimation_, reach_;
    std::ptrdiff_t middle_;  // bin that comes to zero
    // In parts of a turn as many as bins, exactly: of the last spectrum's samples, and of the next one's.
    std::ptrdiff_t turn_ = 0, next_turn_ = 0;
    std::vector<Iq> response_{};
    Fft inverse_;
    AlignedVector<Iq> band_;
    AlignedVector<Iq> samples_;
};

}  // namespace tidemill::dsp
