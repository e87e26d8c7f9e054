#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dsp {

/// y[n] = sum over j of taps[j] x[n + j]; `x` has y.size() + taps.size() - 1 samples, and none of `y`.
void complex_fir(std::span<const Iq> x, std::span<const Iq> taps, std::span<Iq> y);

}  // namespace tidemill::dsp
