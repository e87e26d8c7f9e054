#include "tidemill/tasks/spawned_tasks.hpp"

#include <algorithm>
#include <utility>

namespace tidemill {

using policy::TaskSlot;

SpawnedTasks::SpawnedTasks(std::unique_ptr<policy::Policy> policy, std::size_t slots,
                           std::uint64_t bundle_ticks)
    : policy_(std::move(policy)), bundle_ticks_(bundle_ticks), tasks_(slots) {}

void SpawnedTasks::add(const std::vector<Spawn>& spawns, const std::vector<TaskRef>& predecessors) {
    auto next = predecessors.begin();
    for (const Spawn& spawn : spawns) {
        const TaskSlot slot = spawn.task.slot;
        TaskState& task = tasks_[slot];
        task = {spawn.task.number, spawn.iteration, 0, spawn.kernel, 0, kNone, true};
        if (spawn.kernel >= kernel_ticks_.size()) kernel_ticks_.resize(spawn.kernel + 1);
        task.expected_ticks = ticks_of(spawn.kernel);
        work_ticks_ += task.expected_ticks;
        told_.clear();
        for (std::uint32_t i = 0; i < spawn.predecessors; ++i, ++next) {
            TaskState& before = tasks_[next->slot];
            if (before.number != next->number) continue;
            told_.push_back(next->slot);
            if (!before.in_flight) continue;
            add_edge(before, slot);
            ++task.waits_for;
        }
        ++in_flight_;
        policy_->create({slot, spawn.kernel, spawn.task.number, spawn.iteration, spawn.priority, told_});
        if (task.waits_for == 0) make_ready(slot);
    }
}

void SpawnedTasks::add_edge(TaskState& from, TaskSlot to) {
    std::uint32_t edge = free_edge_;
    if (edge == kNone) {
        edge = static_cast<std::uint32_t>(edges_.size());
        edges_.push_back({});
    } else {
        free_edge_ = edges_[edge].next;
    }
    edges_[edge] = {to, from.first_edge};
    from.first_edge = edge;
}

std::uint64_t SpawnedTasks::ticks_of(policy::KernelId kernel) const {
    return kernel_ticks_[kernel].value_or(bundle_ticks_);
}

void SpawnedTasks::make_ready(TaskSlot task) {
    ready_ticks_ += tasks_[task].expected_ticks;
    ++ready_;
    policy_->ready(task);
}

void SpawnedTasks::take(policy::WorkerId worker, std::size_t hungry, std::vector<TaskSlot>& tasks) {
    const std::size_t share = std::min(kMostTasks, (ready_ + hungry) / (hungry + 1));
    std::uint64_t ticks = 0;
    while (tasks.size() < share && (tasks.empty() || ticks < bundle_ticks_)) {
        const TaskSlot task = policy_->issue(worker);
        if (task == policy::kNoTask) return;
        --ready_;
        ready_ticks_ -= tasks_[task].expected_ticks;
        ticks += ticks_of(tasks_[task].kernel);
        tasks.push_back(task);
    }
}

std::uint64_t SpawnedTasks::expected_ticks(const std::vector<TaskSlot>& tasks) const {
    std::uint64_t ticks = 0;
    for (const TaskSlot task : tasks) ticks += ticks_of(tasks_[task].kernel);
    return ticks;
}

void SpawnedTasks::complete(policy::WorkerId worker, TaskSlot slot, std::uint64_t ticks) {
    TaskState& task = tasks_[slot];
    kernel_ticks_[task.kernel].note(ticks);
    // Of several tasks handed out at once, the policy took the worker for idle after the first.
    policy_->follow(slot, worker);
    policy_->complete(slot, worker);
    task.in_flight = false;
    --in_flight_;
    work_ticks_ -= task.expected_ticks;
    for (std::uint32_t edge = task.first_edge; edge != kNone;) {
        const Edge done = edges_[edge];
        edges_[edge].next = free_edge_;
        free_edge_ = edge;
        if (--tasks_[done.to].waits_for == 0) make_ready(done.to);
        edge = done.next;
    }
    task.first_edge = kNone;
}

}  // namespace tidemill
