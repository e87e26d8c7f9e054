#pragma once

#include <cstddef>
#include <string>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// Incrementing a buffer on a device, by memory policy and size, 4 KiB to `most_bytes`: microseconds of a
/// first execution, of a second one where the buffer is, and of its way back.
ResultTable device_memory_table(Device& device, std::size_t most_bytes);

/// "4 KiB", "16 MiB".
std::string size_text(std::size_t bytes);

}  // namespace tidemill::cli
