#pragma once

#include <vector>

#include "tidemill/lab/sim/os/scheduler.hpp"

namespace tidemill::os {

/// The fair scheduler as it was before it knew of unequal cores (Linux 3.4 to 3.13): loads are weights, a
/// busy core looks every 64 ms whether another has a quarter more, an idle one pulls at once, and no program
/// moves of which half is more than what is to move.
class Cfs : public Scheduler {
  public:
    CoreId place_new(const System& system, TaskId task, CoreId near) override;
    CoreId place_woken(const System& system, TaskId task, CoreId before) override;
    void idle(System& system, CoreId core) override;
    void tick(System& system, CoreId core) override;

  private:
    void pull(System& system, CoreId to, std::size_t most);

    std::vector<double> next_s_;  // of each core, when it looks again
};

/// The same, but no program is moved once it runs: no Linux, but what published gains may have been measured
/// against.
class Unbalanced : public Cfs {
  public:
    void idle(System&, CoreId) override {}
    void tick(System&, CoreId) override {}
};

}  // namespace tidemill::os
