#pragma once

#include <cstddef>
#include <vector>

#include "tidemill/gpu/device/device.hpp"

namespace tidemill {

/// Cost of incrementing a buffer on a device, in microseconds of the host's clock, one entry per run.
struct IncrementCost {
    std::vector<double>
        first_us;  ///< the host has just written all: it comes to the device, and is incremented
    std::vector<double> second_us;  ///< incremented again where it is
    std::vector<double> back_us;    ///< it comes back, and the host reads all
};

/// Measures with a buffer of `bytes` (a multiple of 4) under a policy, `runs` times after one that does not
/// count. Under MemoryPolicy::resident, where no host is, it is where it is, and there is a second time
/// alone. Throws DeviceError where the policy or the memory is lacking, or a number comes back wrong.
IncrementCost increment_cost(Device& device, MemoryPolicy policy, std::size_t bytes, int runs);

/// Cost of a kernel that has nothing to do, from launch to the host's knowledge that it is done: one per run.
std::vector<double> launch_us(Device& device, int runs);

}  // namespace tidemill
