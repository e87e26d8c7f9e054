#pragma once

#include <vector>

#include "tidemill/lab/sim/os/scheduler.hpp"

namespace tidemill::os {

/// From which load on a program goes up to the big cores, and below which down to the little ones.
struct HmpThresholds {
    double up = 700;
    double down = 512;
};

/// Linaro's scheduler for big.LITTLE: the cores of a kind are a domain that is balanced for itself. A
/// program's load is the share of the time that it could have run, 0 to 1023 with a half-life of 32 ms. Those
/// above a threshold go up to an idle big core, those below the other one down when they wake; new ones start
/// on big cores, and one that waits too much there is off-loaded to an idle little core. After each of its
/// moves a program stays for 4 ms.
class Hmp : public Scheduler {
  public:
    explicit Hmp(HmpThresholds thresholds = {}) : thresholds_(thresholds) {}

    CoreId place_new(const System& system, TaskId task, CoreId near) override;
    CoreId place_woken(const System& system, TaskId task, CoreId before) override;
    void idle(System& system, CoreId core) override;
    void tick(System& system, CoreId core) override;

  private:
    double load(const System& system, TaskId task) const;
    bool settled(const System& system, TaskId task);
    void move(System& system, TaskId task, CoreId to);
    void pull_up(System& system, CoreId to);
    void off_load(System& system, CoreId from);

    HmpThresholds thresholds_;
    std::vector<double> moved_s_;  // of each program, when it went to another domain
    std::vector<double> next_s_;   // of each core, when it looks again
};

}  // namespace tidemill::os
