#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// A phase that grows evenly: radians at the first symbol, and per symbol.
struct PhaseLine {
    double start = 0;
    double step = 0;
};

/// Turns symbols back by phases of which many in a row grow by the same step.
class Derotator {
  public:
    /// out[i] = in[i] * factor[i] * exp(-j (start + i step)); spans of equal length, a few thousand symbols
    /// at most, since the oscillator is a recurrence in single precision.
    void operator()(std::span<const dsp::Iq> in, std::span<const dsp::Iq> factor, const PhaseLine& line,
                    std::span<dsp::Iq> out);

    /// Symbols of the widest vector.
    static constexpr std::size_t kMostLanes = 16;
    /// exp(-j i step), up to a whole vector's turn.
    using Turns = std::array<dsp::Iq, kMostLanes + 1>;

  private:
    double step_ = 0;
    Turns turns_ = turns_by(0);

    static Turns turns_by(double step);
};

}  // namespace tidemill::dvbs2::internal
