#include "tidemill/cli/rx_page/work_times.hpp"

#include <algorithm>
#include <utility>

namespace tidemill::cli {

namespace {

// Less work and more waiting. Returns how much of `waited_us` was among the work.
double take_waits(const std::string& reading_task, double waited_us, double pulled_us, LiveTimes& times) {
    const auto read = std::ranges::find(times.tasks, reading_task, &LiveTimes::TaskTime::name);
    if (read == times.tasks.end()) return 0;
    const double taken_us = std::clamp(waited_us, 0.0, read->work_us);
    read->work_us -= taken_us;
    if (times.stages.empty()) return taken_us;
    LiveTimes::StageTime& first = times.stages.front();
    first.work_us = std::max(0.0, first.work_us - taken_us);
    first.pull_us += pulled_us;
    return taken_us;
}

}  // namespace

void WorkTimes::step(const LiveTimes& seen, double waited_us, double waiting_us) {
    recent_ = seen.since(seen_);
    whole_ = seen;
    const double pulled_us = std::max(0.0, waiting_us - std::exchange(waiting_us_, waiting_us));
    untold_us_ += waited_us - std::exchange(waited_us_, waited_us);
    untold_us_ -= take_waits(reading_task_, untold_us_, pulled_us, recent_);
    take_waits(reading_task_, waited_us - untold_us_, waiting_us, whole_);
    seen_ = seen;
}

}  // namespace tidemill::cli
