#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// A filter sampled at `phases` fractions of a sample: evaluates a filtered stream at any position.
class PolyphaseBank {
  public:
    /// Tap k of a position with fraction m is response(k - (taps / 2 - 1) - m), in samples; `taps` even.
    PolyphaseBank(std::size_t taps, std::size_t phases, const std::function<double(double)>& response);

    /// y[i] = filtered x at position first + i * step (samples, first >= 0). Reads x from floor(position) -
    /// (taps / 2 - 1), where x[0] is position -(taps / 2 - 1), up to reach() samples further.
    void evaluate(std::span<const Iq> x, double first, double step, std::span<Iq> y) const;

    /// Samples that one evaluation may read, padding for whole vectors included.
    std::size_t reach() const { return stride_ / 2; }

  private:
    std::size_t phases_;
    std::size_t stride_;         // floats per phase: each tap twice, zeros up to whole vectors
    AlignedVector<float> taps_;  // phases_ + 1 rows, so that rounding up needs no wrap
};

}  // namespace tidemill::dsp
