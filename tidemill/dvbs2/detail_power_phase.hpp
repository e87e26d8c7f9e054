#pragma once

#include <complex>
#include <span>
#include <vector>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/phase_smoother.hpp"

namespace tidemill::dvbs2::detail {

/// The M-th powers of neighbouring symbols, added up: they have lost most of the data, and turn M times as
/// fast as the carrier.
struct PowerBlock {
    double place = 0;  // middle, in symbols from the frame's start
    std::complex<double> sum{};
};

/// A phase that is a parabola over the frame: what a carrier with a drift leaves.
struct Sweep {
    double offset = 0;  // cycles per symbol, in the middle
    double drift = 0;   // cycles per symbol squared
    double middle = 0;  // symbols from the frame's start

    /// The phase that the drift adds at a place, in radians.
    double bend_at(double place) const;
    /// The whole phase, in radians.
    double phase_at(double place) const;
};

/// What evenly spaced power blocks tell together.
struct PowerStatistics {
    double signal = 0;  // length of a block's sum that points with the carrier
    double noise = 0;   // mean square of the rest
    Sweep sweep;        // to be removed from the blocks
};

/// Finds the sweep, its offset expected within some sigma, at which neighbouring blocks agree best, and the
/// header phases with them.
PowerStatistics examine(std::span<const PowerBlock> blocks, int order, double sigma,
                        std::span<const PhaseSample> headers);

/// The same of blocks from which all but a wandering phase has been removed.
PowerStatistics examine_straight(std::span<const PowerBlock> blocks);

}  // namespace tidemill::dvbs2::detail
