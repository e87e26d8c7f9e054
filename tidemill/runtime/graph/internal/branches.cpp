#include "tidemill/runtime/graph/internal/branches.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tidemill::internal {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Tasks that end segments, by their places, each below the last of those that it follows from: where no task
/// reads from two branches, those that a task follows from are one of them and all above it.
class EndTree {
  public:
    explicit EndTree(std::size_t places) : up_(places, kNone), jump_(places, kNone), depth_(places, 0) {}

    /// Returns whether that is new.
    bool put(std::size_t end, std::size_t below) {
        const bool changed = up_[end] != below;
        up_[end] = jump_[end] = below;
        depth_[end] = 0;
        if (below == kNone) return changed;
        depth_[end] = depth_[below] + 1;
        const std::size_t far = jump_[below];
        const bool doubles = far != kNone && jump_[far] != kNone &&
                             depth_[below] - depth_[far] == depth_[far] - depth_[jump_[far]];
        if (doubles) jump_[end] = jump_[far];
        return changed;
    }

    /// The last of an end and those above it that lies before `place`.
    std::size_t before(std::size_t end, std::size_t place) const {
        while (end != kNone && end >= place)
            end = jump_[end] != kNone && jump_[end] >= place ? jump_[end] : up_[end];
        return end;
    }

    /// Whether one of both is the other, or above it.
    bool are_in_line(std::size_t a, std::size_t b) const {
        if (a == kNone || b == kNone) return true;
        return before(std::max(a, b), std::min(a, b) + 1) == std::min(a, b);
    }

  private:
    std::vector<std::size_t> up_;
    std::vector<std::size_t> jump_;
    std::vector<std::size_t> depth_;
};

/// The branch of each task: the last end that it follows from, directly or because a task that shares its
/// state does, as far as that end lies before it.
class BranchSearch {
  public:
    BranchSearch(const OrderProblem& problem, const std::vector<std::uint32_t>& nodes,
                 const std::vector<OrderedTask>& order)
        : order_(order),
          before_(nodes.size()),
          tied_(nodes.size()),
          last_(nodes.size(), kNone),
          ends_(nodes.size()) {
        std::vector<std::size_t> place(nodes.size());
        for (std::size_t at = 0; at < nodes.size(); ++at) place[nodes[at]] = at;
        std::vector<std::size_t> newest(nodes.size(), kNone);  // of those that share state, by one of them
        for (std::size_t at = 0; at < nodes.size(); ++at) {
            for (const std::uint32_t to : problem.forward[nodes[at]]) before_[place[to]].push_back(at);
            const std::size_t other = std::exchange(newest[problem.together[nodes[at]]], at);
            if (other == kNone) continue;
            tied_[at].push_back(other);
            tied_[other].push_back(at);
        }
    }

    /// False where some task reads from two branches.
    bool find() {
        while (pass()) {
        }
        for (std::size_t at = 0; at < last_.size(); ++at) {
            bool in_line = true;
            for_each_end(at, [&](std::size_t end) { in_line &= ends_.are_in_line(end, last_[at]); });
            if (!in_line) return false;
        }
        return true;
    }

    /// Its place; kNone where there is none.
    std::size_t last_before(std::size_t at) const { return last_[at]; }

  private:
    template <class Visit>
    void for_each_end(std::size_t at, Visit visit) const {
        for (const std::size_t from : before_[at]) visit(order_[from].ends_segment ? from : last_[from]);
        for (const std::size_t other : tied_[at]) visit(ends_.before(last_[other], at));
    }

    bool pass() {
        bool changed = false;
        for (std::size_t at = 0; at < last_.size(); ++at) {
            std::size_t last = last_[at];
            for_each_end(at, [&](std::size_t end) {
                if (end != kNone && (last == kNone || end > last)) last = end;
            });
            changed |= std::exchange(last_[at], last) != last;
            if (order_[at].ends_segment) changed |= ends_.put(at, last);
        }
        return changed;
    }

    const std::vector<OrderedTask>& order_;
    std::vector<std::vector<std::size_t>> before_;  // by place, those whose data it reads
    std::vector<std::vector<std::size_t>> tied_;    // by place, those that share its state
    std::vector<std::size_t> last_;
    EndTree ends_;
};

// Tasks that a task behind `end` depends on; a task whose state another one behind it shares goes with that
// one.
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

// The branches, and which tasks read from two; for that all that each follows from is listed.
Faults faults_of_branches(const OrderProblem& problem, const std::vector<std::uint32_t>& nodes,
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

}  // namespace

Faults find_branches(const OrderProblem& problem, const std::vector<std::uint32_t>& nodes,
                     std::vector<OrderedTask>& order) {
    BranchSearch search(problem, nodes, order);
    if (!search.find()) return faults_of_branches(problem, nodes, order);
    for (std::size_t at = 0; at < order.size(); ++at)
        if (const std::size_t last = search.last_before(at); last != kNone)
            order[at].branch = order[last].segment + 1;
    return {};
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
