#pragma once

#include <vector>

#include "tidemill/scheduling/dynamic/rule.hpp"

namespace tidemill::policy {

/// Task types that consume what others make, and how many tasks later, learned while the program runs. A task
/// type has few others before it, so they stand in a list.
class TypeEdges {
  public:
    struct Edge {
        TaskTypeId from;
        std::uint64_t seen;
        double distances;  // their sum

        double mean_distance() const { return distances / static_cast<double>(seen); }
    };

    void saw(TaskTypeId from, TaskTypeId to, double distance) {
        std::vector<Edge>& before = before_.at(to);
        for (Edge& edge : before) {
            if (edge.from != from) continue;
            ++edge.seen;
            edge.distances += distance;
            return;
        }
        before.push_back({from, 1, distance});
    }

    /// The edges that lead to a task type.
    std::span<const Edge> before(TaskTypeId to) const {
        if (to >= before_.size()) return {};
        return before_[to];
    }

  private:
    Table<std::vector<Edge>> before_;
};

}  // namespace tidemill::policy
