#pragma once

#include <cstddef>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// An Interpolator of two phases for samples whose parts are all +a or -a, such as QPSK symbols: what four of
/// them add to the outputs around them is looked up by their signs.
class SignInterpolator {
  public:
    static constexpr std::size_t kPhases = 2;
    static constexpr std::size_t kMostTaps = 64;  // of a phase

    /// `taps` holds those of one phase behind those of the other.
    explicit SignInterpolator(std::span<const float> taps);

    /// Makes two outputs for each sample behind the history, the taps of a phase less one, as an Interpolator
    /// does. Returns for how many samples: whole groups of eight up to the first ones of another magnitude,
    /// and a few are always left at the end.
    std::size_t process(std::span<const Iq> x, std::span<Iq> out) const;

  private:
    std::size_t taps_;           // of a phase
    AlignedVector<float> rows_;  // what four inputs add to a block of outputs, for each place and their signs
};

}  // namespace tidemill::dsp
