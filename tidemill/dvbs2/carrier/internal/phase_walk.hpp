#pragma once

#include <span>

#include "tidemill/dvbs2/carrier/internal/sweep_search.hpp"

namespace tidemill::dvbs2::internal {

/// Variance per symbol (radians squared) of the random walk of a phase beside a sweep, by how fast the powers
/// of data in evenly spaced blocks forget it; `expected`, where they do not certainly forget faster.
double walk_beside(const Sweep& sweep, std::span<const PowerBlock> blocks, int order, double expected);

}  // namespace tidemill::dvbs2::internal
