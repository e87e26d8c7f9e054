#pragma once

#include "tidemill/gpu/device/kernel_source.hpp"

namespace tidemill::device {

/// `increment(uint* numbers, uint count)`: adds 1 to each, with any number of items.
KernelSource increment_kernels();

}  // namespace tidemill::device
