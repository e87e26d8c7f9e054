#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/half_band.hpp"
#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/offset_remover.hpp"
#include "tidemill/dsp/resampler.hpp"

namespace tidemill::dsp {

/// Which band of a stream is wanted, and at which rate. All in hertz.
struct TunerConfig {
    double sample_rate_hz = 0;  ///< of the input
    double output_rate_hz = 0;
    double offset_hz = 0;        ///< what comes to frequency zero
    double pass_hz = 0;          ///< what is kept to either side of it, below half of both rates
    double stop_hz = 0;          ///< from here on all is 60 dB down; 0: only what would fold onto the band
    double clean_hz = 0;         ///< in the input nothing lies beyond; 0: nobody knows
    bool removes_offset = true;  ///< of I and Q (DC), before anything else
};

/// Brings one band of a stream to zero and to another rate: takes out the radio's offset (DC), turns, halves
/// the rate as often as it can, resamples what is left of the ratio, and only then, where few samples are
/// left, filters sharply.
class Tuner {
  public:
    /// Throws DspError for rates and bands that cannot be: no room between `pass` and `stop` or between the
    /// band and its images, or a ratio beyond 2^20.
    explicit Tuner(const TunerConfig& config);

    /// Takes samples, which it uses as scratch, and appends what they complete.
    void process(std::span<Iq> samples, std::vector<Iq>& out);

    /// Moves the wanted band from the next sample on; the oscillator's phase goes on.
    void tune(double offset_hz);

  private:
    void turn(std::span<Iq> samples);
    void filter(std::vector<Iq>& out);

    double sample_rate_hz_;
    double frequency_ = 0;  // of the oscillator, cycles per sample
    double phase_cycles_ = 0;
    std::optional<OffsetRemover> offset_{};
    std::vector<HalfBand> halves_{};
    std::vector<AlignedVector<Iq>> halved_{};  // what each gives
    std::optional<Resampler> resampler_{};     // none: the ratio is a power of two
    std::optional<Interpolator> sharp_{};      // of one phase; none: nothing is near the band
    std::vector<Iq> wide_{};                   // what waits for it, with its history
};

}  // namespace tidemill::dsp
