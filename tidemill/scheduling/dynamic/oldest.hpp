#pragma once

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// Created first, issued first. No two tasks are tied.
class Oldest : public Rule {
  public:
    void create(const NewTask& task) { number_.at(task.slot) = static_cast<Rank>(task.number); }
    Rank rank(TaskSlot task) const { return number_[task]; }

  private:
    Table<Rank> number_;
};

}  // namespace tidemill::policy
