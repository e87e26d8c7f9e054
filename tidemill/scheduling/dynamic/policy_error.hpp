#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::policy {

/// A name or a window that no policy can use: what, where, what to do.
class PolicyError : public Error {
  public:
    using Error::Error;
    Fault fault() const override { return Fault::usage; }
};

}  // namespace tidemill::policy
