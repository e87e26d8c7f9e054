#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::bridge {

/// A kind of cores, a ratio or a file of them that cannot be used: what, where, what to do.
class BridgeError : public Error {
  public:
    using Error::Error;
    Fault fault() const override { return Fault::input; }
};

}  // namespace tidemill::bridge
