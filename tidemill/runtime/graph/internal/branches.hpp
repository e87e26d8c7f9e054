#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/internal/task_graph.hpp"

namespace tidemill::internal {

/// Finds the branch of each task of `order`, whose nodes are given by their places, and says which tasks read
/// from two.
Faults find_branches(const OrderProblem& problem, const std::vector<std::uint32_t>& nodes,
                     std::vector<OrderedTask>& order);

/// Whether some segment has frames of several branches.
bool any_branches(const std::vector<OrderedTask>& order);

/// Gives each branch a bit of its own from `first` on, and each task those of the others. `order` has its
/// holes.
Branches number_branches(std::uint32_t first, std::vector<OrderedTask>& order);

/// For each segment, which is also the number of the branch that begins with it: the branch that this one
/// comes of. The first comes of itself.
std::vector<std::uint32_t> parents_of_branches(const std::vector<OrderedTask>& order);

/// The branch in segment `segment` of which a branch comes, or which it is.
std::uint32_t branch_in(std::uint32_t segment, std::uint32_t branch,
                        const std::vector<std::uint32_t>& parents);

}  // namespace tidemill::internal
