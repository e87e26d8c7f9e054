#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tidemill/runtime/observe/live_view.hpp"

namespace tidemill::cli {

/// How a run spends its time, of late and all the time. What its first task waits for samples is no work,
/// though it waits within its calls.
class WorkTimes {
  public:
    explicit WorkTimes(std::string reading_task) : reading_task_(std::move(reading_task)) {}

    /// `seen` with the waits among the work. `idle_us`: idle part of that, of waits that are over;
    /// `waiting_us`: what was waited, also in the wait that lasts; both from a moment before.
    void step(const LiveTimes& seen, double idle_us, double waiting_us);

    const LiveTimes& recent() const { return recent_; }
    const LiveTimes& whole() const { return whole_; }
    /// How long the stages of the whole, those of the last schedule, have been at work.
    double whole_stages_us() const { return stages_us_; }

  private:
    void add_stages(const std::vector<LiveTimes::StageTime>& before);

    std::string reading_task_;
    LiveTimes seen_{};
    double idle_us_ = 0;
    double waiting_us_ = 0;
    double untold_us_ = 0;  // of waits that were over before their calls were
    LiveTimes whole_{};
    double stages_us_ = 0;
    LiveTimes recent_{};
};

}  // namespace tidemill::cli
