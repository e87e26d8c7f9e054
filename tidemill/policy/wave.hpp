#pragma once

#include "tidemill/policy/rule.hpp"

namespace tidemill::policy {

/// Least wave number first, which is the iteration plus the kernel's top level inside an iteration: the
/// kernels on a longest path to it from one that needs nothing of the same iteration.
class Wave : public Rule {
  public:
    bool wants_predecessors() const { return true; }

    void create(const NewTask& task) {
        Rank& level = level_.at(task.kernel);
        for (const TaskSlot before : task.predecessors) {
            const Place& place = places_[before];
            if (place.kernel == task.kernel || place.iteration != task.iteration) continue;
            // Kernels that feed each other within an iteration have no top level; the number of kernels is
            // enough.
            level = std::max(level, std::min<Rank>(level_[place.kernel] + 1, kernels()));
        }
        places_.at(task.slot) = {task.kernel, task.iteration};
    }

    Rank rank(TaskSlot task) const {
        const Place& place = places_[task];
        return static_cast<Rank>(place.iteration) + level_[place.kernel];
    }

  private:
    struct Place {
        KernelId kernel;
        std::uint64_t iteration;
    };
    Rank kernels() const { return static_cast<Rank>(level_.size()); }

    Table<Place> places_;
    Table<Rank> level_;  // of kernels
};

}  // namespace tidemill::policy
