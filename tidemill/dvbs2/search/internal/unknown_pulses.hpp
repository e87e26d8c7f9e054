#pragma once

#include <span>

#include "tidemill/dsp/iq.hpp"

namespace tidemill::dvbs2::internal {

/// Zeroes pulses as the receiver does, in samples of a band of which nothing is known.
void blank_unknown_pulses(std::span<dsp::Iq> samples);

}  // namespace tidemill::dvbs2::internal
