#pragma once

#include <vector>

#include "tidemill/policy/rule.hpp"

namespace tidemill::policy {

/// Which kernels consume what which others make, and how many tasks later, learned while the program runs. A
/// kernel has few others before it, so they stand in a list.
class KernelEdges {
  public:
    struct Edge {
        KernelId from;
        std::uint64_t seen;
        double distances;  // their sum

        double mean_distance() const { return distances / static_cast<double>(seen); }
    };

    void saw(KernelId from, KernelId to, double distance) {
        std::vector<Edge>& before = before_.at(to);
        for (Edge& edge : before) {
            if (edge.from != from) continue;
            ++edge.seen;
            edge.distances += distance;
            return;
        }
        before.push_back({from, 1, distance});
    }

    /// The edges that lead to a kernel.
    std::span<const Edge> before(KernelId to) const {
        if (to >= before_.size()) return {};
        return before_[to];
    }

  private:
    Table<std::vector<Edge>> before_;
};

}  // namespace tidemill::policy
