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

/// Which nodes one can get to from `start` by at least one link.
std::vector<bool> reached_from(std::uint32_t start, const Links& successors);

}  // namespace tidemill::internal
