#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tidemill::internal {

/// Per node, the nodes that it points to.
using Links = std::vector<std::vector<std::uint32_t>>;

/// Orders nodes so that each comes after all it depends on, taking of those that are ready the one with the
/// least key. Nodes on a cycle, and those behind one, are left out.
std::vector<std::uint32_t> ordered(const Links& successors,
                                   const std::function<std::pair<bool, std::uint32_t>(std::uint32_t)>& key);

/// Per node, the least of those that go in a circle with it: itself where there are none.
std::vector<std::uint32_t> least_in_circle(const Links& successors);

/// Looks for paths where the reach of a path is known; each search takes as long as the nodes that it meets.
class PathSearch {
  public:
    /// The `forward` links go in no circle.
    explicit PathSearch(const Links& forward);

    /// A place in an order along the forward links.
    std::uint32_t place(std::uint32_t node) const { return place_[node]; }

    /// Whether one can get from `start` to `target` by at least one link, over nodes of these places alone.
    bool finds(std::uint32_t start, std::uint32_t target, const Links& links, std::uint32_t first,
               std::uint32_t last);

  private:
    std::vector<std::uint32_t> place_;    // per node
    std::vector<std::uint32_t> seen_in_;  // per node, a search
    std::uint32_t search_ = 0;
};

/// Nodes that are reached from `start` by at least one link.
std::vector<bool> reached_from(std::uint32_t start, const Links& successors);

}  // namespace tidemill::internal
