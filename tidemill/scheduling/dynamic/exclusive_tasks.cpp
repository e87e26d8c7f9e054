#include "tidemill/scheduling/dynamic/exclusive_tasks.hpp"

#include <algorithm>
#include <utility>

namespace tidemill::policy {

void ExclusiveTasks::create(TaskSlot task, std::span<const ExclusionId> needs) {
    if (needs.empty()) return;
    if (task >= tasks_.size()) tasks_.resize(task + 1);
    tasks_[task].needs.assign(needs.begin(), needs.end());
    const ExclusionId most = *std::ranges::max_element(needs);
    if (most >= things_.size()) things_.resize(most + 1);
}

// All or nothing; a task that gets nothing waits for the first that is taken.
bool ExclusiveTasks::take(TaskSlot task) {
    for (const ExclusionId id : tasks_[task].needs) {
        if (!things_[id].taken) continue;
        add_waiting(things_[id], task);
        return false;
    }
    for (const ExclusionId id : tasks_[task].needs) things_[id].taken = true;
    return true;
}

void ExclusiveTasks::add_waiting(Thing& thing, TaskSlot task) {
    tasks_[task].next_waiting = kNoTask;
    TaskSlot& before =
        thing.first_waiting == kNoTask ? thing.first_waiting : tasks_[thing.last_waiting].next_waiting;
    before = task;
    thing.last_waiting = task;
}

TaskSlot ExclusiveTasks::pop_waiting(Thing& thing) {
    const TaskSlot first = thing.first_waiting;
    thing.first_waiting = std::exchange(tasks_[first].next_waiting, kNoTask);
    return first;
}

}  // namespace tidemill::policy
