#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tidemill/dsp/half_band.hpp"
#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/resampler.hpp"

namespace tidemill::dsp {

/// Band around frequency zero to keep, and its rate. All in hertz.
struct RateChange {
    double from_hz = 0;
    double to_hz = 0;
    double pass_hz = 0;   ///< what is kept to either side of zero, below half of both rates
    double stop_hz = 0;   ///< from here on all is 60 dB down; 0: only what would fold onto the band
    double clean_hz = 0;  ///< in the input nothing lies beyond; 0: nobody knows
};

/// Brings a band around frequency zero to another rate: halves the rate as often as it can, resamples what is
/// left of the ratio, and only then, where few samples are left, filters sharply.
class RateChanger {
  public:
    /// Throws DspError where no filter has room between the band and its images, or between `pass` and
    /// `stop`.
    explicit RateChanger(const RateChange& change);

    /// Whether what it takes is what it gives.
    bool changes_nothing() const { return halves_.empty() && !resampler_ && !sharp_; }

    /// Takes samples, and appends what they complete.
    void process(std::span<const Iq> samples, std::vector<Iq>& out);
    /// Appends what the filters still hold, for silence follows.
    void finish(std::vector<Iq>& out);

  private:
    void filter(std::vector<Iq>& out);

    double length_ = 0;  // of all filters, in input samples
    std::vector<HalfBand> halves_{};
    std::vector<AlignedVector<Iq>> halved_{};  // what each gives
    std::optional<Resampler> resampler_{};     // none: the ratio is a power of two
    std::optional<Interpolator> sharp_{};      // of one phase; none: nothing is near the band
    std::vector<Iq> wide_{};                   // what waits for it, with its history
};

}  // namespace tidemill::dsp
