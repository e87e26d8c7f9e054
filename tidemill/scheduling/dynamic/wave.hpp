#pragma once

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// Least wave number first, which is the iteration plus the task type's top level inside an iteration: the
/// task types on a longest path to it from one that needs nothing of the same iteration.
class Wave : public Rule {
  public:
    bool wants_predecessors() const { return true; }

    void create(const NewTask& task) {
        Rank& level = level_.at(task.type);
        for (const TaskSlot before : task.predecessors) {
            const Place& place = places_[before];
            if (place.type == task.type || place.iteration != task.iteration) continue;
            // Task types that feed each other within an iteration have no top level; the number of task types
            // is enough.
            level = std::max(level, std::min<Rank>(level_[place.type] + 1, types()));
        }
        places_.at(task.slot) = {task.type, task.iteration};
    }

    Rank rank(TaskSlot task) const {
        const Place& place = places_[task];
        return static_cast<Rank>(place.iteration) + level_[place.type];
    }

  private:
    struct Place {
        TaskTypeId type;
        std::uint64_t iteration;
    };
    Rank types() const { return static_cast<Rank>(level_.size()); }

    Table<Place> places_;
    Table<Rank> level_;  // of task types
};

}  // namespace tidemill::policy
