#pragma once

#include <map>
#include <string>
#include <vector>

#include "tidemill/machine/counters.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"
#include "tidemill/steer/layer.hpp"
#include "tidemill/steer/roster.hpp"

namespace tidemill::steer {

/// Learns from hardware counters what threads take on each kind of core: time per instruction. What is
/// learned of a program holds for its next thread; a program that has changed is learned again.
class Learning {
  public:
    /// The counters must live longer than this, and this longer than the threads that it looked at.
    Learning(Counters& counters, std::size_t kinds);

    /// Counts what a thread has done since the last look for its kind, if it was confined to it all the
    /// while.
    void look(RosterThread& thread);
    /// After some looks: makes the factors of their results.
    void generate() { layer_.generate(); }
    /// Absent where nothing is known yet.
    bridge::Factor factor(const RosterThread& thread, std::size_t kind) const;

    /// Knowledge of programs: microseconds per million instructions on each kind, by "process.thread".
    std::vector<bridge::KnownTask> known(const std::vector<std::string>& kind_names) const;
    /// Why a thread could not be counted; empty when all could.
    const std::string& complaint() const { return complaint_; }

  private:
    friend struct CountedThread;

    void begin(RosterThread& thread);
    void note(RosterThread& thread, const CounterReading& now);

    Counters& counters_;
    bridge::Layer layer_;
    std::vector<bridge::TaskId> free_slots_;
    std::map<std::string, std::vector<bridge::History>> programs_;
    std::string complaint_;
};

}  // namespace tidemill::steer
