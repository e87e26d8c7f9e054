#pragma once

#include <cstdint>

#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// The profile with all weights multiplied, so that a schedule's period becomes `period_us`.
Profile stretched(Profile profile, const Schedule& schedule, double period_us);

/// Runs a pipeline on real threads whose tasks wait for their weights instead of computing, each from its own
/// beginning on, so that no wait makes up for another; returns the time between frames in the second half.
/// Stands in for cores that this machine does not have. Throws JobFailed when a frame is lost or out of
/// place.
double waiting_period_us(const Schedule& schedule, const Chain& chain, std::uint64_t frames);

}  // namespace tidemill::cli
