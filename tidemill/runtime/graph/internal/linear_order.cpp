#include "tidemill/runtime/graph/internal/linear_order.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tidemill::internal {

namespace {

using Nodes = std::vector<std::uint32_t>;

class Arranger {
  public:
    explicit Arranger(const OrderProblem& problem) : problem_(problem) {
        control_of_.resize(problem.names.size(), nullptr);
        for (const ControlNodes& control : problem.controls) {
            control_of_[control.commute] = control_of_[control.select] = &control;
        }
        switch_pairs_ = switch_pairs();
    }

    LinearOrder arrange() {
        Nodes all(problem_.names.size());
        for (std::uint32_t node = 0; node < all.size(); ++node) all[node] = node;
        for (const Nodes& unit : groups(all, problem_.together)) {
            const std::uint32_t begin = here();
            place_all(unit);
            result_.units.push_back({begin, here()});
        }
        check_values_stay_in_their_paths();
        return std::move(result_);
    }

  private:
    std::uint32_t here() const { return static_cast<std::uint32_t>(result_.nodes.size()); }

    // Parts `nodes` into groups that must stay in one piece, in the order in which they run: nodes with a
    // common representative, and whatever lies between or goes in a circle with them.
    std::vector<Nodes> groups(const Nodes& nodes, const Nodes& representative) const {
        std::map<std::uint32_t, std::uint32_t> local;
        for (std::uint32_t i = 0; i < nodes.size(); ++i) local[nodes[i]] = i;
        Nodes group(nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            const auto found = local.find(representative[nodes[i]]);
            group[i] = found == local.end() ? i : found->second;
        }
        const auto links_between = [&] {
            Links links(nodes.size());
            for (std::uint32_t i = 0; i < nodes.size(); ++i) {
                for (const std::uint32_t to : problem_.all[nodes[i]]) {
                    const auto found = local.find(to);
                    if (found == local.end() || group[found->second] == group[i]) continue;
                    links[group[i]].push_back(group[found->second]);
                }
            }
            return links;
        };
        merge_circles(group, links_between());

        std::vector<std::pair<bool, std::uint32_t>> keys(nodes.size(), {false, 0});
        std::vector<Nodes> members(nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            if (members[group[i]].empty()) keys[group[i]].second = nodes[i];
            members[group[i]].push_back(nodes[i]);
            if (problem_.ends_segment[nodes[i]]) keys[group[i]].first = true;
        }
        std::vector<Nodes> result;
        for (const std::uint32_t g : ordered(links_between(), [&](std::uint32_t at) { return keys[at]; })) {
            if (!members[g].empty()) result.push_back(std::move(members[g]));
        }
        return result;
    }

    static void merge_circles(Nodes& group, const Links& between) {
        const Nodes least = least_in_circle(between);
        for (std::uint32_t& each : group) each = least[each];
    }

    // The two tasks of a switch stay together at every level; other units only matter at the outermost.
    Nodes switch_pairs() const {
        Nodes representative(problem_.names.size());
        for (std::uint32_t node = 0; node < representative.size(); ++node) {
            const ControlNodes* control = control_of_[node];
            representative[node] = control && !control->is_loop ? control->commute : node;
        }
        return representative;
    }

    void place_all(const Nodes& nodes) {
        if (nodes.size() == 1) {
            result_.nodes.push_back(nodes.front());
            return;
        }
        for (const Nodes& group : groups(nodes, switch_pairs_)) {
            if (group.size() == 1) {
                result_.nodes.push_back(group.front());
            } else {
                place_region(group);
            }
        }
    }

    // A region begins with the only node that depends on none of the others.
    void place_region(const Nodes& nodes) {
        const std::set<std::uint32_t> all(nodes.begin(), nodes.end());
        std::set<std::uint32_t> depends;
        for (const std::uint32_t node : nodes)
            depends.insert(problem_.forward[node].begin(), problem_.forward[node].end());
        const auto root = std::ranges::find_if(nodes, [&](auto node) { return !depends.contains(node); });
        const ControlNodes* control = root == nodes.end() ? nullptr : control_of_[*root];
        const auto inside = [&](std::uint32_t node) { return all.contains(node); };
        if (!control || !inside(control->commute) || !inside(control->select)) {
            add_fault(fmt::format("{} is part of a loop whose body does not lead from 'body' to 'next'",
                                  problem_.names[nodes.front()]));
            return;
        }
        for (const std::uint32_t node : nodes) {
            if (!problem_.ends_segment[node]) continue;
            add_fault(fmt::format("{} may skip or repeat inside '{}': move it before or behind",
                                  problem_.names[node], control->name));
        }
        Nodes rest;
        std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(rest),
                     [&](auto node) { return node != control->commute && node != control->select; });
        const std::size_t index = result_.regions.size();
        result_.regions.push_back({});
        result_.regions[index] = control->is_loop ? place_loop(*control, rest) : place_switch(*control, rest);
    }

    Region place_loop(const ControlNodes& loop, const Nodes& rest) {
        const std::set<std::uint32_t> after = reached_within(rest, problem_.forward[loop.commute]);
        Nodes head;
        Nodes body;
        for (const std::uint32_t node : rest) (after.contains(node) ? body : head).push_back(node);
        Region region{true, {here(), 0}, 0, here(), {}};
        result_.nodes.push_back(loop.select);
        place_all(head);
        region.commute = here();
        result_.nodes.push_back(loop.commute);
        place_all(body);
        region.paths = {{region.commute + 1, here()}};
        region.steps.end = here();
        return region;
    }

    Region place_switch(const ControlNodes& control, const Nodes& rest) {
        Region region{false, {here(), 0}, here(), 0, {}};
        result_.nodes.push_back(control.commute);
        Nodes unplaced = rest;
        for (const Nodes& readers : control.path_readers) {
            const std::set<std::uint32_t> reached = reached_within(rest, readers);
            const auto border = std::stable_partition(
                unplaced.begin(), unplaced.end(), [&](std::uint32_t node) { return reached.contains(node); });
            const std::uint32_t begin = here();
            place_all({unplaced.begin(), border});
            unplaced.erase(unplaced.begin(), border);
            region.paths.push_back({begin, here()});
        }
        place_all(unplaced);
        region.select = here();
        result_.nodes.push_back(control.select);
        region.steps.end = here();
        return region;
    }

    // Those of `nodes`, between any two of which there are no others, that are in `starts` or follow from
    // them.
    std::set<std::uint32_t> reached_within(const Nodes& nodes, const Nodes& starts) const {
        const std::set<std::uint32_t> all(nodes.begin(), nodes.end());
        std::set<std::uint32_t> reached;
        Nodes pending = starts;
        while (!pending.empty()) {
            const std::uint32_t node = pending.back();
            pending.pop_back();
            if (!all.contains(node) || !reached.insert(node).second) continue;
            pending.insert(pending.end(), problem_.forward[node].begin(), problem_.forward[node].end());
        }
        return reached;
    }

    // Values made on only one path are there for others only through the select or the loop's end.
    void check_values_stay_in_their_paths() {
        Nodes step_of(problem_.names.size(), 0);
        for (std::uint32_t step = 0; step < here(); ++step) step_of[result_.nodes[step]] = step;
        for (const Region& region : result_.regions) {
            for (const StepRange& path : region.paths) {
                for (std::uint32_t step = path.begin; step < path.end; ++step) {
                    for (const std::uint32_t to : problem_.forward[result_.nodes[step]]) {
                        const std::uint32_t reader = step_of[to];
                        if (reader == region.select || (reader >= path.begin && reader < path.end)) continue;
                        add_fault(fmt::format("{} reads what {} makes on one path only: take it from '{}'",
                                              problem_.names[to], problem_.names[result_.nodes[step]],
                                              region.is_loop ? "done" : "joined"));
                    }
                }
            }
        }
    }

    void add_fault(std::string fault) { result_.faults.push_back(std::move(fault)); }

    const OrderProblem& problem_;
    std::vector<const ControlNodes*> control_of_;  // per node
    Nodes switch_pairs_;
    LinearOrder result_;
};

}  // namespace

LinearOrder linear_order(const OrderProblem& problem) {
    return Arranger(problem).arrange();
}

}  // namespace tidemill::internal
