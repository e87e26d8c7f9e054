#pragma once

#include <string>

#include "schedext/exchange.h"

#include "tidemill/steer/kinds.hpp"

namespace tidemill::schedext {

/// This machine's CPUs, by the kernel.
struct Cpus {
    steer::Kinds kinds;
    MachineEntry machine{};

    /// Kinds that have a CPU on line.
    std::size_t kinds_online() const;
    /// "1 big from cpu0 on, 2 little from cpu1 on"
    std::string describe() const;
};

/// Throws SteerError where the kernel lists no CPUs, and SchedulerError where there are more CPUs or kinds
/// than the scheduler's map can hold.
Cpus read_cpus();

}  // namespace tidemill::schedext
