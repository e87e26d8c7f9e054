#pragma once

#include "tidemill/apps/running/devices.hpp"

namespace tidemill::cli {

/// Those of this machine, through the CUDA driver and OpenCL.
Devices devices_here();

}  // namespace tidemill::cli
