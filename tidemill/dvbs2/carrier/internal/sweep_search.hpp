#pragma once

#include <span>
#include <vector>

#include "tidemill/dvbs2/carrier/internal/block_agreement.hpp"
#include "tidemill/dvbs2/sync/phase_smoother.hpp"

namespace tidemill::dvbs2::internal {

/// A phase that is a parabola over the frame: what a carrier with a drift leaves.
struct Sweep {
    double offset = 0;  // cycles per symbol, in the middle
    double drift = 0;   // cycles per symbol squared
    double middle = 0;  // symbols from the frame's start
    double prior = 0;   // log-likelihood before anything was heard

    /// The phase that the drift adds at a place, in radians.
    double bend_at(double place) const;
    /// The whole phase, in radians.
    double phase_at(double place) const;
};

/// Candidates that the search leaves.
struct LikelySweeps {
    PowerStatistics statistics;
    std::vector<Sweep> sweeps;  // the likeliest first
};

/// The sweeps, their offset expected within some sigma, at which neighbouring blocks agree well, and the
/// phases of the headers, one or two, with them.
LikelySweeps search_sweeps(std::span<const PowerBlock> blocks, int order, double sigma,
                           std::span<const PhaseSample> headers);

}  // namespace tidemill::dvbs2::internal
