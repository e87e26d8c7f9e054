#pragma once

#include "tidemill/policy/tasks_in_flight.hpp"

namespace tidemill::policy {

/// Most descendants first.
class Mdesc : public Rule {
  public:
    static constexpr bool kRaises = true;
    bool wants_predecessors() const { return true; }
    void create(const NewTask& task) {
        tasks_.create(task);
        tasks_.count_ancestors(task.slot);
    }
    void complete(TaskSlot task, WorkerId) { tasks_.complete(task); }
    std::span<const TaskSlot> raised() { return tasks_.changed(); }
    Rank rank(TaskSlot task) const { return -tasks_.value(task); }

  private:
    TasksInFlight tasks_;
};

}  // namespace tidemill::policy
