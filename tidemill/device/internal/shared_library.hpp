#pragma once

#include "tidemill/device/device_error.hpp"
#include "tidemill/platform/shared_library.hpp"

namespace tidemill::device {

/// A driver's.
using SharedLibrary = tidemill::SharedLibrary<DeviceError>;

}  // namespace tidemill::device
