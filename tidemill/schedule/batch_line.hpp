#pragma once

#include <span>

#include "tidemill/schedule/chain.hpp"

namespace tidemill {

/// What batches of a size take on a device.
struct BatchTimes {
    double frames;
    double batch_us;  ///< from one to the next, with as many under way as there will be
    double core_us;   ///< of that, what keeps the thread busy that sends them and waits
};

/// The cost of batches as a line of least squares through what some sizes took, in rising order; neither of
/// its parts is below 0. The kind, and frames per execution, are the caller's to fill in.
BatchCost batch_line(std::span<const BatchTimes> times);

}  // namespace tidemill
