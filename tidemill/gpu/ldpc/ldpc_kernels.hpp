#pragma once

#include "tidemill/gpu/device/kernel_source.hpp"

namespace tidemill::device {

/// `ldpc`, see ldpc.cl; a variant for each pair of most and fewest edges of a check that the 21 codes have.
KernelSource ldpc_kernels();

}  // namespace tidemill::device
