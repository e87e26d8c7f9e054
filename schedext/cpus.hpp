#pragma once

#include <filesystem>
#include <vector>

#include "schedext/exchange.h"

#include "tidemill/steer/kind_wishes.hpp"

namespace tidemill::schedext {

/// A machine's CPUs, as the kernel tells them.
struct Cpus {
    MachineEntry machine{};
    std::vector<steer::NamedKind> kinds;  ///< the largest capacity first; cores that are online

    /// "1 big from cpu0 on, 2 little from cpu1 on"
    std::string describe() const;
};

/// By the files under /sys/devices/system/cpu. CPUs whose capacities differ by less than a tenth are of one
/// kind. Throws SchedulerError where there are not two kinds, and where there are more CPUs or kinds than a
/// map can hold.
Cpus read_cpus(const std::filesystem::path& folder = "/sys/devices/system/cpu");

}  // namespace tidemill::schedext
