#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::policy {

/// Resource that only one task at a time may have. Two may share a number by chance, and then exclude each
/// other needlessly.
using ExclusionId = std::uint32_t;

/// Tasks that may run in any order, but not at the same time. One that waits for no other task has to get all
/// of what it needs for itself, at once, before it is ready, and keeps it until it has completed: so nobody
/// waits for another in a circle. The longest wait comes first.
class ExclusiveTasks {
  public:
    /// The program creates a task that needs this; tasks that need nothing need no call.
    void create(TaskSlot task, std::span<const ExclusionId> needs);

    /// The task waits for no other one any more. False where something that it needs is taken: then a later
    /// complete() makes it ready.
    bool gets_what_it_needs(TaskSlot task) {
        return task >= tasks_.size() || tasks_[task].needs.empty() || take(task);
    }

    /// Calls `make_ready(task)` for those which then have all that they need.
    template <class MakeReady>
    void complete(TaskSlot task, MakeReady make_ready) {
        if (task >= tasks_.size() || tasks_[task].needs.empty()) return;
        given_back_.swap(tasks_[task].needs);
        for (const ExclusionId id : given_back_) things_[id].taken = false;
        for (const ExclusionId id : given_back_) {
            Thing& thing = things_[id];
            while (!thing.taken && thing.first_waiting != kNoTask) {
                const TaskSlot next = pop_waiting(thing);
                if (take(next)) make_ready(next);
            }
        }
        given_back_.clear();
    }

  private:
    struct Thing {
        bool taken = false;
        TaskSlot first_waiting = kNoTask;
        TaskSlot last_waiting = kNoTask;
    };
    struct Task {
        std::vector<ExclusionId> needs{};
        TaskSlot next_waiting = kNoTask;
    };

    bool take(TaskSlot task);
    void add_waiting(Thing& thing, TaskSlot task);
    TaskSlot pop_waiting(Thing& thing);

    std::vector<Thing> things_;
    std::vector<Task> tasks_;  // per slot
    std::vector<ExclusionId> given_back_;
};

}  // namespace tidemill::policy
