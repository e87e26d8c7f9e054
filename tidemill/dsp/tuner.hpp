#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/band_spectra.hpp"
#include "tidemill/dsp/rate_changer.hpp"
#include "tidemill/dsp/stretch_spectra.hpp"

namespace tidemill::dsp {

/// Band of a stream that is wanted, and its rate. All in hertz.
struct TunerConfig {
    double sample_rate_hz = 0;  ///< of the input
    double output_rate_hz = 0;
    double offset_hz = 0;  ///< what comes to frequency zero
    double pass_hz = 0;    ///< what is kept to either side of it, below half of both rates
    double stop_hz = 0;    ///< from here on all is 60 dB down; 0: only what would fold onto the band
};

/// Brings one band of a stream to zero and to another rate, from spectra of BandSpectra that any number of
/// bands share: takes it out of these by whole bins, turns what is left of its offset, and changes the rate
/// by what is left of the ratio. All but that of the spectra is done at the band's own rate.
class BandTuner {
  public:
    /// Throws DspError for rates and bands that cannot be: no room between `pass` and `stop` or between the
    /// band and its images, or a ratio beyond 2^20.
    explicit BandTuner(const TunerConfig& config);

    /// Takes the next spectrum, and appends what it completes. `offsets_hz` (one or more) say where the band
    /// lies in as many equal parts of the samples that are new in it, each delay() late; the oscillator's
    /// phase goes on over all moves.
    void process(std::span<const Iq> spectrum, std::span<const double> offsets_hz, std::vector<Iq>& out);

    /// Whether the band is all of the stream, in which nothing is to be stopped: a tuner to nothing else
    /// spares the spectra, and gives the samples themselves, as many at a time as are new in one.
    bool is_all() const { return is_all_; }
    void process_samples(std::span<const Iq> samples, std::span<const double> offsets_hz,
                         std::vector<Iq>& out);

    /// Appends what the filters still hold, for silence follows.
    void finish(std::vector<Iq>& out) { rest_.finish(out); }

    /// Bins of a spectrum.
    std::size_t bins() const { return bins_; }
    /// Samples of the input by which the oscillator is late.
    std::size_t delay() const { return band_.delay(); }

  private:
    struct Plan;
    static Plan plan_of(const TunerConfig& config);
    explicit BandTuner(const Plan& plan);
    void turn(std::span<const Iq> samples, double besides_cycles, std::vector<Iq>& out);

    std::size_t bins_;
    bool is_all_;
    double sample_rate_hz_;
    SpectrumBand band_;
    double phase_cycles_ = 0;            // of the oscillator behind the band
    std::vector<double> frequencies_{};  // of the oscillator, part by part
    std::vector<Iq> turned_{};
    RateChanger rest_;
};

/// A tuner that is laid on one band alone.
class Tuner {
  public:
    /// Throws as BandTuner.
    explicit Tuner(const TunerConfig& config);

    /// Takes samples, which it uses as scratch, and appends what they complete.
    void process(std::span<Iq> samples, std::vector<Iq>& out);
    /// Appends what the filters still hold, for silence follows.
    void finish(std::vector<Iq>& out);

  private:
    void take_spectra(std::vector<Iq>& out);

    const double offset_hz_;
    std::size_t stretch_samples_;
    BandTuner tuner_;
    BandSpectra band_;
    AlignedVector<Iq> spectra_{};
};

}  // namespace tidemill::dsp
