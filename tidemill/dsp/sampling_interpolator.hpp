#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/split_fir.hpp"

namespace tidemill::dsp {

/// Reads matched-filtered symbols at sampling_instants that lie nearly two samples apart, with the eight-tap
/// interpolator that has the least mean square error for a raised-cosine signal.
class SamplingInterpolator {
  public:
    static constexpr std::size_t kTaps = 8;
    static constexpr std::size_t kGroup = 16;  // symbols read with one set of taps

    explicit SamplingInterpolator(double rolloff);

    /// symbols[i] = x at sample position first + i * step (even[0] is position 0), i < count, |step - 2| <
    /// 1e-3. Works in groups: writes up to the next multiple of kGroup, and reads x for as many.
    void read(SplitView x, double first, double step, std::size_t count, std::span<Iq> symbols) const;

    /// Mean square error over all fractions of a sample, relative to the signal, in dB (known from the
    /// design).
    double error_db() const { return error_db_; }

  private:
    AlignedVector<float> taps_;
    double error_db_ = 0.0;
};

}  // namespace tidemill::dsp
