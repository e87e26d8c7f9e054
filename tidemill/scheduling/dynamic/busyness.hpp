#pragma once

#include <optional>
#include <vector>

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// How busy the threads were when the tasks of a task type ended.
struct TypeBusyness {
    std::uint64_t busy_threads = 0;  ///< their sum over the tasks counted
    std::uint64_t starved =
        0;  ///< tasks that ended before the task type's next one was created, threads idle
    std::uint64_t not_starved = 0;  ///< tasks counted

    double mean() const { return static_cast<double>(busy_threads) / static_cast<double>(not_starved); }
};

/// Result of the statistics of all task types.
struct Verdict {
    bool master_too_slow = false;  ///< more tasks would have been needed, not other ones first
    std::optional<TaskTypeId> bottleneck{};
};

/// Judges: with a tenth as many starved tasks as others, the master is too slow. Else the task type whose
/// tasks end with the fewest threads busy is the bottleneck, if that is under 90 % of the mean over all
/// tasks; among equals, the last task type.
Verdict judge(std::span<const TypeBusyness> types);

/// Counts threads at work. One that was never given a task counts as busy: it says nothing about lateness. A
/// worker with several tasks is busy once.
class BusyThreads {
  public:
    explicit BusyThreads(unsigned workers) : busy_(workers), works_(workers, true) {}

    void begin(WorkerId worker) {
        if (!works_[worker]) ++busy_;
        works_[worker] = true;
    }
    void end(WorkerId worker) {
        if (works_[worker]) --busy_;
        works_[worker] = false;
    }

    unsigned busy() const { return busy_; }
    bool any_idle() const { return busy_ < works_.size(); }

  private:
    unsigned busy_;
    std::vector<bool> works_;
};

}  // namespace tidemill::policy
