#pragma once

#include <span>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// Batches that a stage on a device has under way at a time: one that is copied in, one in the kernel, one
/// that is copied out, and one that the host has in its hands.
inline constexpr int kBatchesUnderWay = 4;

/// Times of batches of a size on a device.
struct BatchTimes {
    double frames;
    double batch_us;       ///< from one to the next, with as many under way as there will be
    double core_us;        ///< of that, what keeps the thread busy that sends them and waits
    double copies_us = 0;  ///< of one that is alone: to the device and back
    double kernel_us = 0;  ///< and there
};

/// The cost of batches as a line of least squares through what some sizes took, in rising order; neither of
/// its parts is below 0; the same of copies and kernel. The kind, frames per execution, and how copies are
/// made are the caller's to fill in.
BatchCost batch_line(std::span<const BatchTimes> times);

}  // namespace tidemill
