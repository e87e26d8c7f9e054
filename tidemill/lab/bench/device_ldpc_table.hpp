#pragma once

#include <memory>

#include "tidemill/gpu/device/device.hpp"
#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// LDPC of normal frames of rate 1/2 and short ones of rate 8/9 on a device, by batch and memory policy:
/// coded gigabits per second of the kernel alone, and of batches in flight with their copies, beside one core
/// of the host.
ResultTable device_ldpc_table(const std::shared_ptr<Device>& device);

}  // namespace tidemill::cli
