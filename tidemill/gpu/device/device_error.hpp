#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill {

/// Refusal of a device or its driver: which device, which call, and what to do.
class DeviceError : public Error {
  public:
    using Error::Error;
};

/// No device has that id.
class NoSuchDevice : public DeviceError {
  public:
    using DeviceError::DeviceError;
    Fault fault() const override { return Fault::usage; }
};

/// There is no room for what was wanted: less of it at a time may do.
class DeviceMemoryError : public DeviceError {
  public:
    using DeviceError::DeviceError;
};

}  // namespace tidemill
