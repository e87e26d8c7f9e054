#include "tidemill/apps/reception/page/work_times.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemill::cli {

namespace {

using Stages = std::vector<LiveTimes::StageTime>;

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

bool are_alike(const Stages& a, const Stages& b) {
    return std::ranges::equal(a, b, {}, &LiveTimes::StageTime::threads, &LiveTimes::StageTime::threads);
}

}  // namespace

void WorkTimes::step(const LiveTimes& seen, double idle_us, double waiting_us) {
    const Stages before = std::exchange(recent_, seen.since(seen_)).stages;
    const double pulled_us = std::max(0.0, waiting_us - std::exchange(waiting_us_, waiting_us));
    untold_us_ += idle_us - std::exchange(idle_us_, idle_us);
    untold_us_ -= take_waits(reading_task_, untold_us_, pulled_us, recent_);
    seen_ = seen;
    add_stages(before);
    Stages stages = std::move(whole_.stages);
    whole_ = {.elapsed_us = seen.elapsed_us, .tasks = seen.tasks};
    take_waits(reading_task_, idle_us - untold_us_, 0, whole_);
    whole_.stages = std::move(stages);
}

// Those of another schedule take the place of the last ones'. At its end a stream may run on for a moment in
// some stages, which is no idle time.
void WorkTimes::add_stages(const Stages& before) {
    Stages& whole = whole_.stages;
    if (!are_alike(recent_.stages, whole)) {
        if (!whole.empty() && !are_alike(recent_.stages, before)) return;
        whole = recent_.stages;
        stages_us_ = recent_.elapsed_us;
        return;
    }
    stages_us_ += recent_.elapsed_us;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        whole[i].work_us += recent_.stages[i].work_us;
        whole[i].pull_us += recent_.stages[i].pull_us;
        whole[i].push_us += recent_.stages[i].push_us;
    }
}

}  // namespace tidemill::cli
