#pragma once

#include <memory>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// Two tasks on a device, one behind the other, in batches of 16 frames: microseconds a frame where frames
/// cross in between, by each policy, and where they stay on the device. Throws JobFailed where a frame comes
/// out wrong.
ResultTable device_neighbours_table(const std::shared_ptr<Device>& device);

}  // namespace tidemill::cli
