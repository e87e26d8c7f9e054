#pragma once

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// Ready first, issued first. Tasks made ready by the same completion are tied.
class Fifo : public Rule {
  public:
    void ready(TaskSlot task) { ready_at_.at(task) = completions_; }
    void complete(TaskSlot, WorkerId) { ++completions_; }
    Rank rank(TaskSlot task) const { return ready_at_[task]; }

  private:
    Rank completions_ = 0;
    Table<Rank> ready_at_;
};

}  // namespace tidemill::policy
