#pragma once

#include <memory>

#include "tidemill/steer/system.hpp"

namespace tidemill::steer {

/// The machine we run on. Processes are held by pidfd, threads by their files in /proc, which do not follow a
/// reused number. Opens as many files as the system lets this process have. Throws SteerError where there is
/// no /proc.
std::unique_ptr<System> linux_system();

}  // namespace tidemill::steer
