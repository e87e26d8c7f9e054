#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A wrong wish about the machine (node list, kinds, placement): says what, where and what to do.
class PlatformError : public Error {
  public:
    using Error::Error;
    Fault fault() const override { return Fault::usage; }
};

/// The system has no thread left to give: nothing that was asked for is wrong.
class NoMoreThreads : public PlatformError {
  public:
    using PlatformError::PlatformError;
    Fault fault() const override { return Fault::job; }
};

}  // namespace tidemill
