#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// A phase that grows evenly: radians at the first symbol, and per symbol.
struct PhaseLine {
    double start = 0;
    double step = 0;
};

/// out[i] = in[i] * factor[i] * exp(-j (start + i step)); spans of equal length, a few thousand symbols at
/// most, since the oscillator is a recurrence in single precision.
void derotate(std::span<const dsp::Iq> in, std::span<const dsp::Iq> factor, const PhaseLine& line,
              std::span<dsp::Iq> out);

}  // namespace tidemill::dvbs2::internal
