#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A published figure that the program does not carry.
class SimError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill
