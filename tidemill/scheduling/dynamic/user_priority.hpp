#pragma once

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// The priority that the program gave the task, largest first.
class UserPriority : public Rule {
  public:
    void create(const NewTask& task) { priority_.at(task.slot) = task.priority; }
    Rank rank(TaskSlot task) const { return -priority_[task]; }

  private:
    Table<Rank> priority_;
};

}  // namespace tidemill::policy
