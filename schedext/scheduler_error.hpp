#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill::schedext {

/// The kernel refuses the scheduler, or the machine is not one for it.
class SchedulerError : public Error {
  public:
    using Error::Error;
};

}  // namespace tidemill::schedext
