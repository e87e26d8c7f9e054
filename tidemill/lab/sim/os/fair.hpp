#pragma once

#include <optional>
#include <vector>

#include "tidemill/lab/sim/os/scheduler.hpp"

namespace tidemill::os {

/// Common part of the fair schedulers of today's Linux: a core with nothing to do takes a waiting program
/// from the busiest, a busy one looks every 64 ms whether another has 17 % more load by its capacity.
class Fair : public Scheduler {
  public:
    CoreId place_new(const System& system, TaskId task, CoreId near) override;
    CoreId place_woken(const System& system, TaskId task, CoreId before) override;
    void idle(System& system, CoreId core) override;
    void tick(System& system, CoreId core) override;

  protected:
    /// Capacity of a core, as a share of the largest.
    virtual double capacity(const System& system, CoreId core) const = 0;
    /// Whether an idle core will do for a program; among others the largest is taken.
    virtual bool suits(const System& system, TaskId task, CoreId core) const = 0;
    /// Program on another core that an idle core takes where none waits anywhere.
    virtual std::optional<TaskId> upgrade(const System& system, CoreId to) const = 0;

  private:
    struct Core {
        double next_s = 0;  // when it looks again
        int failed = 0;     // how often in a row all programs were too large to move
    };

    double load(const System& system, TaskId task, CoreId core) const;
    double load(const System& system, CoreId core) const;
    double relative_load(const System& system, CoreId core) const;
    std::optional<CoreId> idle_core(const System& system, TaskId task, CoreId first) const;
    std::optional<CoreId> busiest_but(const System& system, CoreId core) const;
    double imbalance(const System& system, CoreId from, CoreId to) const;
    void balance(System& system, CoreId to);

    std::vector<Core> cores_;
};

/// On cores of unequal capacity without SMT (Arm since 4.20, hybrid x86 since 6.12): loads count by capacity,
/// a program starts and wakes where it fits, and one that is too large for its core is taken by an idle
/// larger one as long as no core has more programs than one.
class CapacityAware : public Fair {
  protected:
    double capacity(const System& system, CoreId core) const override;
    bool suits(const System& system, TaskId task, CoreId core) const override;
    std::optional<TaskId> upgrade(const System& system, CoreId to) const override;
};

/// On hybrids with SMT (ITMT): capacities count as equal, and cores have priorities: the big ones fill first.
class Itmt : public Fair {
  protected:
    double capacity(const System& system, CoreId core) const override;
    bool suits(const System& system, TaskId task, CoreId core) const override;
    std::optional<TaskId> upgrade(const System& system, CoreId to) const override;
};

}  // namespace tidemill::os
