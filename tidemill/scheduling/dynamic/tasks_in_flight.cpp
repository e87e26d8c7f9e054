#include "tidemill/scheduling/dynamic/tasks_in_flight.hpp"

namespace tidemill::policy {

void TasksInFlight::create(const NewTask& task) {
    // Before the node, since a task may take the slot of the one it consumes.
    to_visit_.assign(task.predecessors.begin(), task.predecessors.end());
    nodes_.at(task.slot).before.clear();
    for (const TaskSlot before : to_visit_) {
        const Node& node = nodes_[before];
        if (node.unfinished) nodes_[task.slot].before.push_back({before, node.number});
    }
    Node& node = nodes_[task.slot];
    node.number = task.number;
    node.value = 0;
    node.counted_for = 0;
    node.unfinished = true;
}

void TasksInFlight::count(TaskSlot task) {
    ++nodes_[task].value;
    changed_.push_back(task);
}

void TasksInFlight::count_parents(TaskSlot start) {
    for (const Before& before : nodes_[start].before) count(before.slot);
}

void TasksInFlight::count_ancestors(TaskSlot start) {
    const std::uint64_t mark = nodes_[start].number + 1;
    to_visit_.assign(1, start);
    while (!to_visit_.empty()) {
        const TaskSlot after = to_visit_.back();
        to_visit_.pop_back();
        for (const Before& before : nodes_[after].before) {
            if (!is_unfinished(before) || nodes_[before.slot].counted_for == mark) continue;
            nodes_[before.slot].counted_for = mark;
            count(before.slot);
            to_visit_.push_back(before.slot);
        }
    }
}

std::span<const TaskSlot> TasksInFlight::changed() {
    told_.swap(changed_);
    changed_.clear();
    return told_;
}

}  // namespace tidemill::policy
