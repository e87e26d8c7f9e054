#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::steer {

/// A thread that cannot be steered, or a journal that cannot be read: what, where, what to do.
class SteerError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill::steer
