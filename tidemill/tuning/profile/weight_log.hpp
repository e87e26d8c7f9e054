#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tidemill/machine/thread_time.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/tuning/profile/recurring_cost.hpp"

namespace tidemill {

/// Weight of a unit per source frame, in microseconds.
struct UnitWeight {
    double weight_us = 0;
    double error_us = 0;  ///< standard error of the weight
    double p99_us = 0;    ///< of single calls of the task that takes longest
    double once_us = 0;   ///< what happened once and is not in the weight, over all frames
    double pace_us = 0;   ///< of the weight: what sources among its tasks wait for, which paces them
};

/// Weighs the units of a graph while it runs in order on one thread: what recurs, and nothing that other
/// threads took of its core. Give it to RunOptions::observers.
class WeightLog final : public Observer, private ThreadObserver {
  public:
    explicit WeightLog(const Structure& structure)
        : structure_(structure), costs_(structure.order.size()), paced_ticks_(structure.order.size()) {}

    ThreadObserver& watch(const ObservedThread& thread) override;

    std::uint64_t frames() const { return frames_; }  ///< of the source
    /// Per unit; zeros while there are no frames.
    std::vector<UnitWeight> weights() const;

  private:
    void called(const ObservedCall& call) override;
    std::uint64_t look(const ObservedCall& call, std::uint64_t ticks);

    const Structure& structure_;
    const Plan* plan_ = nullptr;
    std::deque<RecurringCost> costs_;         // per step
    std::vector<std::uint64_t> paced_ticks_;  // per step
    std::uint64_t frames_ = 0;
    std::uint64_t born_ = 0;  // when the frame began that is at work
    bool has_looked_ = false;
    ThreadTime last_look_{};
};

}  // namespace tidemill
