#pragma once

#include "tidemill/scheduling/dynamic/tasks_in_flight.hpp"

namespace tidemill::policy {

/// Those first that `kCount` has counted for the most tasks created after them.
template <void (TasksInFlight::*kCount)(TaskSlot)>
class MostAfter : public Rule {
  public:
    static constexpr bool kRaises = true;
    bool wants_predecessors() const { return true; }
    void create(const NewTask& task) {
        tasks_.create(task);
        (tasks_.*kCount)(task.slot);
    }
    void complete(TaskSlot task, WorkerId) { tasks_.complete(task); }
    std::span<const TaskSlot> raised() { return tasks_.changed(); }
    Rank rank(TaskSlot task) const { return -tasks_.value(task); }

  private:
    TasksInFlight tasks_;
};

}  // namespace tidemill::policy
