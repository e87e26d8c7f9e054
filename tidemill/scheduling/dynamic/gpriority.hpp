#pragma once

#include <cmath>

#include "tidemill/scheduling/dynamic/adaptive.hpp"

namespace tidemill::policy {

/// Adaptive priority for any program: a bottleneck is raised by steps that double, and everything before it
/// by as much as it takes for its tasks, which are so many tasks older on average, to be as urgent.
class Gpriority : public Adaptive<Gpriority> {
  public:
    using Adaptive::Adaptive;

    void raise(TaskTypeId bottleneck) {
        Rank& delta = delta_.at(bottleneck);
        if (delta == 0) delta = adapting_.first_delta;
        types_[bottleneck].adjustment += delta;
        delta = std::min(2 * delta, kLargestDelta);
        raise_ancestors(bottleneck, [](const TypeEdges::Edge& edge, Rank after) {
            return after - static_cast<Rank>(std::floor(edge.mean_distance()));
        });
    }

  private:
    static constexpr Rank kLargestDelta = Rank{1} << 40;  // far beyond any window, far from overflow

    Table<Rank> delta_;
};

}  // namespace tidemill::policy
