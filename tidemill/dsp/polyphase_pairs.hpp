#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// Samples as whole numbers, real and imaginary parts apart.
struct ShortPlanes {
    std::span<const std::int16_t> re, im;
};

/// A filter sampled at fractions of a sample, as PolyphaseBank, for samples of 16 bits and for two outputs at
/// once: they share what is loaded.
class PolyphasePairs {
  public:
    /// The second output of each pair lies `apart` samples behind the first. Tap k of the first, at a
    /// position with fraction m, is response(k - (taps / 2 - 1) - m), in samples, and 0 from taps / 2 on to
    /// either side: a position that is whole but for rounding has the same taps from below and above. `taps`
    /// even.
    PolyphasePairs(std::size_t taps, std::size_t phases, double apart,
                   const std::function<double(double)>& response);

    /// first_out[i] = filtered x at position first + i * step (samples, first >= 0), second_out[i] `apart`
    /// behind it, both times `gain`. Reads x from floor(position) - (taps / 2 - 1), where x[0] is position
    /// -(taps / 2 - 1), up to reach() samples further.
    void evaluate(ShortPlanes x, double first, double step, float gain, std::span<Iq> first_out,
                  std::span<Iq> second_out) const;

    /// Samples that one pair may read, padding for whole vectors included.
    std::size_t reach() const { return stride_; }

  private:
    std::size_t phases_;
    std::size_t stride_;                // taps of an output, zeros up to whole vectors
    float unit_ = 0;                    // of a tap
    AlignedVector<std::int16_t> taps_;  // phases_ + 1 pairs of rows, so that rounding up needs no wrap
};

}  // namespace tidemill::dsp
