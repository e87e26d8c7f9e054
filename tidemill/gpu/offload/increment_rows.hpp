#pragma once

#include "tidemill/gpu/device/kernel_source.hpp"

namespace tidemill::device {

/// `increment_rows`, see increment_rows.cl: what a DeviceMap may do with its frames.
KernelSource increment_rows_kernels();

}  // namespace tidemill::device
