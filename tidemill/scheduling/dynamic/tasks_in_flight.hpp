#pragma once

#include <vector>

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// The partial dependence graph, from each task to those that it waits for, with a value for every task. For
/// policies that look at what comes after a task: a new task changes the values of those before it.
class TasksInFlight {
  public:
    /// Adds a task of value 0.
    void create(const NewTask& task);
    void complete(TaskSlot task) { nodes_[task].unfinished = false; }

    std::int64_t value(TaskSlot task) const { return nodes_[task].value; }

    /// Offers `change` the value of every unfinished task that `start` waits for, directly or through others,
    /// as change(value of the one after, value of the one before) -> new value of the one before. Goes on
    /// beyond those whose value changed only.
    template <class Change>
    void change_upward(TaskSlot start, Change change);

    /// Adds one to the values of the tasks that `start` waits for directly.
    void count_parents(TaskSlot start);

    /// Adds one to the values of all tasks that `start` waits for.
    void count_ancestors(TaskSlot start);

    /// Tasks whose values have changed since the last call.
    std::span<const TaskSlot> changed();

  private:
    // Slots are used again, so a number shows whether it is still the same task.
    struct Before {
        TaskSlot slot;
        std::uint64_t number;
    };
    struct Node {
        std::vector<Before> before{};
        std::uint64_t number = 0;
        std::int64_t value = 0;
        std::uint64_t counted_for = 0;  // number of the last task that this one was counted for, from 1 on
        bool unfinished = false;
    };

    bool is_unfinished(const Before& task) const {
        return nodes_[task.slot].number == task.number && nodes_[task.slot].unfinished;
    }
    void count(TaskSlot task);

    Table<Node> nodes_;
    std::vector<TaskSlot> to_visit_;
    std::vector<TaskSlot> changed_;
    std::vector<TaskSlot> told_;
};

template <class Change>
void TasksInFlight::change_upward(TaskSlot start, Change change) {
    to_visit_.assign(1, start);
    while (!to_visit_.empty()) {
        const TaskSlot after = to_visit_.back();
        to_visit_.pop_back();
        for (const Before& before : nodes_[after].before) {
            if (!is_unfinished(before)) continue;
            Node& node = nodes_[before.slot];
            const std::int64_t value = change(nodes_[after].value, node.value);
            if (value == node.value) continue;
            node.value = value;
            changed_.push_back(before.slot);
            to_visit_.push_back(before.slot);
        }
    }
}

}  // namespace tidemill::policy
