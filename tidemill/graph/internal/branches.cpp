#include "tidemill/graph/internal/branches.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill::internal {
namespace {

// What a task behind `end` depends on; a task whose state another one behind it shares goes with that one.
Links ties_behind(std::size_t end, const OrderProblem& problem, const std::vector<std::uint32_t>& nodes) {
    Links ties = problem.forward;
    for (std::size_t at = end + 1; at < nodes.size(); ++at) {
        for (std::size_t other = end + 1; other < nodes.size(); ++other) {
            const bool tied = problem.together[nodes[at]] == problem.together[nodes[other]];
            if (tied && at != other) ties[nodes[at]].push_back(nodes[other]);
        }
    }
    return ties;
}

using Ends = std::vector<std::size_t>;  // places of tasks that end segments, ascending

std::vector<Ends> ends_before(const OrderProblem& problem, const std::vector<std::uint32_t>& nodes,
                              const std::vector<OrderedTask>& order) {
    std::vector<Ends> before(order.size());
    for (std::size_t end = 0; end < order.size(); ++end) {
        if (!order[end].ends_segment) continue;
        const std::vector<bool> after = reached_from(nodes[end], ties_behind(end, problem, nodes));
        for (std::size_t later = end + 1; later < order.size(); ++later)
            if (after[nodes[later]]) before[later].push_back(end);
    }
    return before;
}

}  // namespace

Faults find_branches(const OrderProblem& problem, const std::vector<std::uint32_t>& nodes,
                     std::vector<OrderedTask>& order) {
    const std::vector<Ends> before = ends_before(problem, nodes, order);
    Faults faults;
    for (std::size_t at = 0; at < order.size(); ++at) {
        if (before[at].empty()) continue;
        const std::size_t last = before[at].back();
        order[at].branch = order[last].segment + 1;
        for (const std::size_t end : before[at]) {
            if (end == last || std::ranges::count(before[last], end) > 0) continue;
            faults.push_back(fmt::format(
                "{} reads what follows from {} and from {}, which count frames independently of each other: "
                "read from one of them, or make one depend on the other",
                order[at].name, order[end].name, order[last].name));
            break;
        }
    }
    return faults;
}

bool any_branches(const std::vector<OrderedTask>& order) {
    return std::ranges::any_of(order, [](const OrderedTask& task) { return task.branch != task.segment; });
}

Branches number_branches(std::uint32_t first, std::vector<OrderedTask>& order) {
    Branches found;
    if (!any_branches(order)) return found;
    const std::uint32_t count = order.back().segment + (order.back().ends_segment ? 2 : 1);
    for (std::uint32_t branch = 0; branch < count; ++branch)
        found.bits.push_back(std::uint64_t{1} << (first + branch));
    for (const std::uint64_t bit : found.bits) found.all |= bit;
    found.last = found.all;
    for (OrderedTask& task : order) {
        task.holes |= found.all & ~found.bits[task.branch];
        if (task.ends_segment) found.last &= ~found.bits[task.branch];
    }
    return found;
}

std::vector<std::uint32_t> parents_of_branches(const std::vector<OrderedTask>& order) {
    std::vector<std::uint32_t> parents{0};
    for (const OrderedTask& task : order)
        if (task.ends_segment) parents.push_back(task.branch);
    return parents;
}

std::uint32_t branch_in(std::uint32_t segment, std::uint32_t branch,
                        const std::vector<std::uint32_t>& parents) {
    while (branch > segment) branch = parents[branch];
    return branch;
}

}  // namespace tidemill::internal
