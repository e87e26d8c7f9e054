#pragma once

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// The edges on a longest path from a source to each task: certain once the task is there.
class TopLevels {
  public:
    void create(const NewTask& task) {
        std::int64_t level = 0;
        for (const TaskSlot before : task.predecessors) level = std::max(level, level_[before] + 1);
        level_.at(task.slot) = level;
    }
    std::int64_t of(TaskSlot task) const { return level_[task]; }

  private:
    Table<std::int64_t> level_;
};

/// Least top level first.
class Toplev : public Rule {
  public:
    bool wants_predecessors() const { return true; }
    void create(const NewTask& task) { levels_.create(task); }
    Rank rank(TaskSlot task) const { return levels_.of(task); }

  private:
    TopLevels levels_;
};

}  // namespace tidemill::policy
