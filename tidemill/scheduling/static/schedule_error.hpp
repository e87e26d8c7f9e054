#pragma once

#include "tidemill/base/error.hpp"

namespace tidemill {

/// A chain, platform, schedule or file that cannot be used: what, where, what to do.
class ScheduleError : public Error {
  public:
    using Error::Error;
    Fault fault() const override { return Fault::input; }
};

}  // namespace tidemill
