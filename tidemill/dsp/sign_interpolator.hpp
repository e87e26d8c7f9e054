#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// An Interpolator for samples whose parts are all +a or -a, such as QPSK symbols: what four of them add to
/// the outputs around them is looked up by their signs.
class SignInterpolator {
  public:
    /// `taps` holds the filter phase by phase, at most kMostTaps for each of the `phases`.
    SignInterpolator(std::span<const float> taps, std::size_t phases);

    static constexpr std::size_t kMostTaps = 57;

    /// Makes `phases` outputs for each sample behind the first history ones, taps per phase less 1, as an
    /// Interpolator does. Returns for how many samples: whole groups of eight, or none when the parts of `x`
    /// differ in magnitude.
    std::size_t process(std::span<const Iq> x, std::span<Iq> out) const;

  private:
    std::size_t phases_;
    std::size_t taps_;           // per phase
    AlignedVector<float> rows_;  // for each four inputs that reach eight samples, and each of their signs:
                                 // what they add to the outputs of the eight
};

}  // namespace tidemill::dsp
