#pragma once

#include <cstddef>
#include <span>

#include "tidemill/gpu/device/device.hpp"

namespace tidemill {

/// The memory policy under which so many bytes come fastest from the host to a kernel and back, measured here
/// and now with the increment kernel: some milliseconds for a megabyte. Throws DeviceError where the host
/// reaches the device under none.
MemoryPolicy fastest_policy(Device& device, std::size_t bytes);

/// The same for one of the sizes at which policies change places: the least of 64 KiB, 1 MiB and 16 MiB that
/// is no less, or the last.
std::size_t size_class(std::size_t bytes);

/// All of these sizes, in rising order.
std::span<const std::size_t> size_classes();

}  // namespace tidemill
