#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::dvbs2 {

/// Settings with which nothing can be sent or received: which, and what there is instead.
class Dvbs2Error : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill::dvbs2
