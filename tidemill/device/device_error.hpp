#pragma once

#include "tidemill/error.hpp"

namespace tidemill {

/// What a device or its driver refused: says which device, which call, and what to do.
class DeviceError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill
