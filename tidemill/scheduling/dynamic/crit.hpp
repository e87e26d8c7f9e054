#pragma once

#include "tidemill/scheduling/dynamic/botlev.hpp"
#include "tidemill/scheduling/dynamic/toplev.hpp"

namespace tidemill::policy {

/// Largest criticality first: the longest path through a task, which is its top level plus its bottom level.
class Crit : public Rule {
  public:
    static constexpr bool kRaises = true;
    bool wants_predecessors() const { return true; }
    void create(const NewTask& task) {
        top_.create(task);
        bottom_.create(task);
    }
    void complete(TaskSlot task, WorkerId) { bottom_.complete(task); }
    std::span<const TaskSlot> raised() { return bottom_.changed(); }
    Rank rank(TaskSlot task) const { return -(top_.of(task) + bottom_.of(task)); }

  private:
    TopLevels top_;
    BottomLevels bottom_;
};

}  // namespace tidemill::policy
