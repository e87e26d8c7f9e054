#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "tidemill/lab/sim/os/machine.hpp"

namespace tidemill::os {

class System;

/// Rule for the core on which a program runs. Which of a core's programs is next, its fair queue decides.
class Scheduler {
  public:
    virtual ~Scheduler() = default;

    /// The core of a program that starts there: `near` is its parent's.
    virtual CoreId place_new(const System& system, TaskId task, CoreId near) = 0;
    /// The core of a program that wakes, and ran on `before`.
    virtual CoreId place_woken(const System& system, TaskId task, CoreId before) = 0;
    /// A core has nothing to do any more.
    virtual void idle(System& system, CoreId core) = 0;
    /// Called for each core, every System::kTick_s.
    virtual void tick(System& system, CoreId core) = 0;
};

/// A scheduler by its name, and what it is.
struct SchedulerName {
    std::string_view name;
    std::string_view summary;
    std::unique_ptr<Scheduler> (*make)();
};
std::span<const SchedulerName> schedulers();

/// Throws SimError naming those that there are.
std::unique_ptr<Scheduler> make_scheduler(std::string_view name);

}  // namespace tidemill::os
