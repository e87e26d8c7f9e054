#pragma once

#include <span>
#include <vector>

#include "tidemill/dvbs2/detail_power_phase.hpp"

namespace tidemill::dvbs2::detail {

/// What remains of the phase beside the sweep, along its most likely path through the blocks from one header
/// towards the other: `samples` receives the headers' phases first and last, and those of all blocks between.
/// From block to block the phase walks by `step_sigma` radians.
void follow_path(std::span<const PowerBlock> blocks, const PowerStatistics& statistics, int order,
                 std::span<const PhaseSample> headers, double step_sigma, std::vector<PhaseSample>& samples);

}  // namespace tidemill::dvbs2::detail
