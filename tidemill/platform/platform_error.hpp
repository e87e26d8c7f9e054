#pragma once

#include "tidemill/error.hpp"

namespace tidemill {

/// A wrong wish about the machine (node list, kinds, placement): says what, where and what to do.
class PlatformError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill
