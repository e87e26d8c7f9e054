#pragma once

#include <span>
#include <vector>

#include "tidemill/dvbs2/carrier/internal/phase_trellis.hpp"
#include "tidemill/dvbs2/carrier/internal/sweep_search.hpp"

namespace tidemill::dvbs2::internal {

/// Follows phases from header to header; what it keeps between calls is scratch.
class PathFollower {
  public:
    /// Follows the phase beside each of some sweeps (at least one) along its most likely path through the
    /// blocks from one header towards the other, and returns the sweep whose path is the likeliest: `samples`
    /// receives what remains of the phase beside it, the headers' phases first and last, and those of all
    /// blocks between. From block to block the phase walks by `step_sigma` radians.
    Sweep follow(std::span<const PowerBlock> blocks, const PowerStatistics& statistics, int order,
                 std::span<const PhaseSample> headers, double step_sigma, std::span<const Sweep> sweeps,
                 std::vector<PhaseSample>& samples);

  private:
    PhaseTrellis trellis_;
    std::vector<double> path_;
};

}  // namespace tidemill::dvbs2::internal
