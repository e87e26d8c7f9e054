#pragma once

#include "tidemill/scheduling/dynamic/adaptive.hpp"

namespace tidemill::policy {

/// Adaptive priority for streams of one dimension: a bottleneck runs one iteration further ahead, and so does
/// everything before it.
class Apriority : public Adaptive<Apriority> {
  public:
    using Adaptive::Adaptive;

    void create(const NewTask& task) {
        Adaptive::create(task);
        if (task.iteration != iteration_) {
            iteration_ = task.iteration;
            tasks_in_iteration_ = 0;
        }
        tasks_per_iteration_ = std::max(tasks_per_iteration_, ++tasks_in_iteration_);
    }

    void raise(TaskTypeId bottleneck) {
        types_[bottleneck].adjustment += tasks_per_iteration_;
        raise_ancestors(bottleneck, [](const TypeEdges::Edge&, Rank after) { return after; });
    }

  private:
    std::uint64_t iteration_ = 0;
    Rank tasks_in_iteration_ = 0;
    Rank tasks_per_iteration_ = 0;
};

}  // namespace tidemill::policy
