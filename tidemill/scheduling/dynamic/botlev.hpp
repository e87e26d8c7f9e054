#pragma once

#include "tidemill/scheduling/dynamic/tasks_in_flight.hpp"

namespace tidemill::policy {

/// The edges on a longest path from each task to a sink, among what has been created so far.
class BottomLevels {
  public:
    void create(const NewTask& task) {
        tasks_.create(task);
        tasks_.change_upward(
            task.slot, [](std::int64_t after, std::int64_t before) { return std::max(before, after + 1); });
    }
    void complete(TaskSlot task) { tasks_.complete(task); }
    std::span<const TaskSlot> changed() { return tasks_.changed(); }
    std::int64_t of(TaskSlot task) const { return tasks_.value(task); }

  private:
    TasksInFlight tasks_;
};

/// Largest bottom level first.
class Botlev : public Rule {
  public:
    static constexpr bool kRaises = true;
    bool wants_predecessors() const { return true; }
    void create(const NewTask& task) { levels_.create(task); }
    void complete(TaskSlot task, WorkerId) { levels_.complete(task); }
    std::span<const TaskSlot> raised() { return levels_.changed(); }
    Rank rank(TaskSlot task) const { return -levels_.of(task); }

  private:
    BottomLevels levels_;
};

}  // namespace tidemill::policy
