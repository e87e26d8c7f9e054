#pragma once

#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// Takes the carrier off QPSK symbols of which nothing is known, so that they lie on the diagonals, turned by
/// any multiple of a quarter. Empty where no such carrier stands out.
std::vector<dsp::Iq> without_qpsk_carrier(std::span<const dsp::Iq> symbols);

}  // namespace tidemill::dvbs2::internal
