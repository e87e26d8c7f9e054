#include "tidemill/lab/programs/task_record.hpp"

#include <algorithm>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/graph/plan.hpp"

namespace tidemill {

ThreadObserver& TaskRecord::watch(const ObservedThread& thread) {
    Lane& lane = lanes_[thread.replica];
    lane.worker = thread.replica;
    lane.steps = thread.plan.steps.size();
    return lane;
}

void TaskRecord::Lane::called(const ObservedCall& call) {
    const std::uint64_t frame = call.frame.number();
    tasks.push_back({call.step, frame * steps + call.step, frame, worker, call.start, call.end});
}

std::vector<RanTask> TaskRecord::tasks() const {
    std::vector<ObservedTask> all;
    for (const Lane& lane : lanes_) all.insert(all.end(), lane.tasks.begin(), lane.tasks.end());
    std::ranges::sort(all, {}, &ObservedTask::start);
    std::vector<RanTask> ran;
    const auto time_us = [&](std::uint64_t tick) { return to_ns(tick - all.front().start) / 1e3; };
    for (const ObservedTask& task : all) {
        ran.push_back({task.number, task.type, task.iteration, static_cast<policy::WorkerId>(task.worker),
                       time_us(task.start), time_us(task.end)});
    }
    return ran;
}

}  // namespace tidemill
