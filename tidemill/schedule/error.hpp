#pragma once

#include <stdexcept>

namespace tidemill {

/// What the schedule room throws for a chain, platform, schedule or file it cannot use: what, where, what to
/// do.
class ScheduleError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tidemill
