#pragma once

#include "tidemill/error.hpp"

namespace tidemill {

/// A run that cannot be what it is asked to be: what, where, what to do.
class RunError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill
