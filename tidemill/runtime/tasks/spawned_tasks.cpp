#include "tidemill/runtime/tasks/spawned_tasks.hpp"

#include <algorithm>
#include <utility>

namespace tidemill {

using policy::TaskSlot;
using policy::TaskTypeId;

SpawnedTasks::SpawnedTasks(ReadyTasks ready, std::size_t slots, std::uint64_t bundle_ticks,
                           bridge::Placement* placement)
    : ready_(std::move(ready)),
      bundle_ticks_(bundle_ticks),
      placement_(placement),
      tasks_(slots),
      times_(1 + std::ranges::max(ready_.kinds())) {
    ready_.resize(slots);
}

void SpawnedTasks::know(TaskTypeId type) {
    while (type >= types_.size()) {
        types_.push_back({.ready_group = ready_.group_of(policy::kAnyKind)});
        if (placement_) placement_->add_type(policy::kAnyKind, false);
    }
    times_.resize(types_.size());
}

void SpawnedTasks::confine(TaskTypeId id, policy::KindSet kinds) {
    know(id);
    TypeState& confined = types_[id];
    confined.kinds = kinds;
    confined.ready_group = ready_.group_of(kinds);
    if (placement_) placement_->confine(id, kinds);
}

void SpawnedTasks::add(const Spawns& spawns) {
    auto next = spawns.waits.predecessors.begin();
    const policy::ExclusionId* needs = spawns.waits.exclusions.data();
    for (const Spawn& spawn : spawns.tasks) {
        const TaskSlot slot = spawn.task.slot;
        if (spawn.type >= types_.size()) know(spawn.type);
        const policy::KindSet kinds = types_[spawn.type].kinds;
        TaskState& task = tasks_[slot];
        task = {spawn.task.number,
                spawn.iteration,
                times_.least_or(spawn.type, bundle_ticks_),
                spawn.type,
                0,
                kNone,
                true};
        work_ticks_ += task.expected_ticks;
        told_.clear();
        for (std::uint32_t i = 0; i < spawn.predecessors; ++i) wait_for(slot, *next++);
        ++in_flight_;
        ready_.policy().create(
            {slot, spawn.type, spawn.task.number, spawn.iteration, spawn.priority, told_, kinds});
        exclusive_.create(slot, {needs, spawn.exclusions});
        needs += spawn.exclusions;
        if (task.waits_for == 0) waits_for_none(slot);
    }
}

void SpawnedTasks::wait_for(TaskSlot slot, const TaskRef& before) {
    TaskState& state = tasks_[before.slot];
    if (state.number != before.number) return;
    told_.push_back(before.slot);
    if (!state.in_flight) return;
    add_edge(state, slot);
    ++tasks_[slot].waits_for;
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

void SpawnedTasks::waits_for_none(TaskSlot slot) {
    if (exclusive_.gets_what_it_needs(slot)) make_ready(slot);
}

void SpawnedTasks::make_ready(TaskSlot slot) {
    const TaskState& task = tasks_[slot];
    ready_.add(slot, task.type, types_[task.type].ready_group, task.expected_ticks);
}

std::uint64_t SpawnedTasks::take(policy::WorkerId worker, std::size_t idle_peers,
                                 std::vector<TaskSlot>& tasks) {
    const policy::KindId kind = ready_.kinds()[worker];
    std::uint64_t expected = 0;
    ready_.take(worker, idle_peers, [&](TaskSlot slot, std::uint64_t /*ticks_left*/) {
        tasks.push_back(slot);
        const std::uint64_t more = times_.on(kind, tasks_[slot].type).value_or(bundle_ticks_);
        expected += more;
        return more;
    });
    return expected;
}

void SpawnedTasks::complete(policy::WorkerId worker, TaskSlot slot, std::uint64_t ticks) {
    TaskState& task = tasks_[slot];
    times_.on(ready_.kinds()[worker], task.type).note(ticks);
    if (placement_) placement_->completed(worker, task.type, 1, ticks);
    ready_.complete(slot, worker);
    task.in_flight = false;
    --in_flight_;
    work_ticks_ -= task.expected_ticks;
    exclusive_.complete(slot, [this](TaskSlot next) { make_ready(next); });
    release_successors(task);
}

void SpawnedTasks::release_successors(TaskState& task) {
    for (std::uint32_t edge = task.first_edge; edge != kNone;) {
        const Edge done = edges_[edge];
        edges_[edge].next = free_edge_;
        free_edge_ = edge;
        if (--tasks_[done.to].waits_for == 0) waits_for_none(done.to);
        edge = done.next;
    }
    task.first_edge = kNone;
}

}  // namespace tidemill
