#pragma once

#include <cstddef>

#include "tidemill/device/device.hpp"

namespace tidemill {

/// The memory policy under which so many bytes come fastest from the host to a kernel and back, measured here
/// and now with the increment kernel: some milliseconds for a megabyte. Throws DeviceError where the host
/// reaches the device under none.
MemoryPolicy fastest_policy(Device& device, std::size_t bytes);

}  // namespace tidemill
