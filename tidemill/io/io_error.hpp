#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::io {

/// A file that cannot be used: what happened, to which path, why, and what to do about it.
class IoError : public Error {
  public:
    using Error::Error;
    Fault fault() const override { return Fault::input; }
};

}  // namespace tidemill::io
