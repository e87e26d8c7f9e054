#pragma once

#include "tidemill/gpu/device/device_error.hpp"
#include "tidemill/machine/shared_library.hpp"

namespace tidemill::device {

/// A driver's.
using SharedLibrary = tidemill::SharedLibrary<DeviceError>;

}  // namespace tidemill::device
