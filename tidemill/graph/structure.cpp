#include "tidemill/graph/structure.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemill {

namespace {

using Links = std::vector<std::vector<std::uint32_t>>;  // per node, the nodes it points to

// Orders nodes so that each comes after all it depends on, taking of those that are ready the one
// with the least key. Nodes on a cycle, and those behind one, are left out.
std::vector<std::uint32_t> ordered(const Links& successors,
                                   const std::function<std::pair<bool, std::uint32_t>(std::uint32_t)>& key) {
    std::vector<std::uint32_t> waiting_for(successors.size(), 0);
    for (const auto& next : successors) {
        for (const std::uint32_t node : next) ++waiting_for[node];
    }
    std::vector<std::uint32_t> ready;
    const auto later = [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); };
    const auto make_ready = [&](std::uint32_t node) {
        ready.push_back(node);
        std::push_heap(ready.begin(), ready.end(), later);
    };
    for (std::uint32_t node = 0; node < successors.size(); ++node) {
        if (waiting_for[node] == 0) make_ready(node);
    }
    std::vector<std::uint32_t> order;
    while (!ready.empty()) {
        std::pop_heap(ready.begin(), ready.end(), later);
        order.push_back(ready.back());
        ready.pop_back();
        for (const std::uint32_t node : successors[order.back()]) {
            if (--waiting_for[node] == 0) make_ready(node);
        }
    }
    return order;
}

std::vector<bool> reached_from(std::uint32_t start, const Links& successors) {
    std::vector<bool> reached(successors.size(), false);
    std::vector<std::uint32_t> pending = successors[start];
    while (!pending.empty()) {
        const std::uint32_t node = pending.back();
        pending.pop_back();
        if (reached[node]) continue;
        reached[node] = true;
        pending.insert(pending.end(), successors[node].begin(), successors[node].end());
    }
    return reached;
}

class Analysis {
  public:
    explicit Analysis(const Graph& graph) : graph_(graph) {
        list_tasks();
        check_sockets();
        check_options();
        fail_on_faults();
        list_links();
        check_cycles();
        fail_on_faults();
    }

    Structure structure() {
        group_tasks();
        order_tasks();
        check_segments();
        number_holes();
        fail_on_faults();
        return std::move(result_);
    }

  private:
    struct Node {
        TaskId id;
        std::string name;
        const TaskInfo* info;
    };

    void list_tasks() {
        for (std::uint32_t m = 0; m < graph_.module_count(); ++m) {
            const Module& module = graph_.module(m);
            first_of_module_.push_back(static_cast<std::uint32_t>(nodes_.size()));
            if (module.tasks().empty())
                faults_.push_back(fmt::format("module '{}' has no task", module.name()));
            for (std::uint32_t t = 0; t < module.tasks().size(); ++t) {
                nodes_.push_back({{m, t}, module.path_of_task(t), &module.tasks()[t]});
            }
        }
        if (nodes_.empty()) faults_.push_back(fmt::format("graph '{}' is empty: add modules", graph_.name()));
    }

    void check_sockets() {
        for (std::size_t m = 0; m < graph_.module_count(); ++m) {
            const Module& module = graph_.module(m);
            for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
                const SocketInfo& socket = module.sockets()[s];
                if (socket.task >= module.tasks().size()) {
                    faults_.push_back(fmt::format("{}: belongs to no task; declare it before its task",
                                                  module.path_of_socket(s)));
                }
                if (socket.direction != Direction::out && !graph_.source_of(m, s)) {
                    faults_.push_back(
                        fmt::format("{} ({} x {}): nothing feeds it; bind an output or constant data",
                                    module.path_of_socket(s), socket.type.name, socket.count));
                }
            }
        }
    }

    void check_options() {
        for (const Node& node : nodes_) {
            const TaskOptions& options = node.info->options;
            if (options.may_repeat && options.replication != Replication::sequential) {
                faults_.push_back(fmt::format("{}: may_repeat needs a sequential task", node.name));
            }
        }
    }

    void fail_on_faults() {
        if (!faults_.empty()) throw GraphError(std::move(faults_));
    }

    void list_links() {
        successors_.resize(nodes_.size());
        predecessors_.resize(nodes_.size());
        for (std::size_t m = 0; m < graph_.module_count(); ++m) {
            const Module& module = graph_.module(m);
            for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
                const Source* source = graph_.source_of(m, s);
                if (!source || !source->module) continue;
                const std::uint32_t to = first_of_module_[m] + module.sockets()[s].task;
                const std::uint32_t from = first_of_module_[graph_.index_of(*source->module)] +
                                           source->module->sockets()[source->socket].task;
                successors_[from].push_back(to);
                predecessors_[to].push_back(from);
            }
        }
    }

    void check_cycles() {
        const auto order = ordered(successors_, [](std::uint32_t node) { return std::pair{false, node}; });
        if (order.size() == nodes_.size()) return;
        std::vector<std::string> names;
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (reached_from(node, successors_)[node]) names.push_back(nodes_[node].name);
        }
        faults_.push_back(
            fmt::format("these tasks wait for each other: {}; break the cycle", fmt::join(names, ", ")));
    }

    bool must_stay_together(const Module& module) const {
        if (module.tasks_independent()) return false;
        return std::any_of(module.tasks().begin(), module.tasks().end(), [](const TaskInfo& task) {
            return task.options.replication != Replication::shared;
        });
    }

    // A group is a unit in the making: the tasks of a module with state, then everything between them.
    void group_tasks() {
        group_of_.resize(nodes_.size());
        std::iota(group_of_.begin(), group_of_.end(), 0u);
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            const Module& module = graph_.module(nodes_[node].id.module);
            if (must_stay_together(module)) group_of_[node] = first_of_module_[nodes_[node].id.module];
        }
        const Links between = links_between_groups();
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            const std::uint32_t group = group_of_[node];
            if (group != node) continue;
            const std::vector<bool> after = reached_from(group, between);
            if (!after[group]) continue;
            for (std::uint32_t& other : group_of_) {
                if (after[other] && reached_from(other, between)[group]) other = group;
            }
        }
    }

    Links links_between_groups() const {
        Links between(nodes_.size());
        for (std::uint32_t from = 0; from < nodes_.size(); ++from) {
            for (const std::uint32_t to : successors_[from]) {
                if (group_of_[from] != group_of_[to]) between[group_of_[from]].push_back(group_of_[to]);
            }
        }
        return between;
    }

    // What ends a segment comes as late as it may, so that all that does not depend on it runs before.
    void order_tasks() {
        std::vector<bool> group_ends(nodes_.size(), false);
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (nodes_[node].info->ends_segment()) group_ends[group_of_[node]] = true;
        }
        const auto by_end = [&](std::uint32_t group) { return std::pair{bool(group_ends[group]), group}; };
        for (const std::uint32_t group : ordered(links_between_groups(), by_end)) {
            if (group_of_[group] == group) append_unit(group);
        }
        result_.segments = segment_ + 1;
    }

    void append_unit(std::uint32_t group) {
        Links inside(nodes_.size());
        for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
            if (group_of_[node] != group) continue;
            for (const std::uint32_t next : successors_[node]) {
                if (group_of_[next] == group) inside[node].push_back(next);
            }
        }
        const auto by_end = [&](std::uint32_t node) {
            return std::pair{nodes_[node].info->ends_segment(), node};
        };
        Unit unit{"", {}, true};
        for (const std::uint32_t node : ordered(inside, by_end)) {
            if (group_of_[node] == group) append_task(node, unit);
        }
        result_.units.push_back(std::move(unit));
    }

    void append_task(std::uint32_t node, Unit& unit) {
        const Node& task = nodes_[node];
        unit.name += (unit.name.empty() ? "" : "+") + task.name;
        unit.tasks.push_back(static_cast<std::uint32_t>(result_.order.size()));
        unit.replicable &= task.info->options.replication != Replication::sequential;
        result_.order.push_back({task.id, task.name, segment_, task.info->ends_segment(), 0, 0});
        node_at_.push_back(node);
        if (task.info->ends_segment()) ++segment_;
    }

    void check_segments() {
        for (std::size_t end = 0; end < node_at_.size(); ++end) {
            if (!result_.order[end].ends_segment) continue;
            const std::vector<bool> after = reached_from(node_at_[end], successors_);
            for (std::size_t later = end + 1; later < node_at_.size(); ++later) {
                if (after[node_at_[later]]) continue;
                faults_.push_back(fmt::format(
                    "{} and {} count frames independently of each other: make one depend on the other, or "
                    "declare that neither skips nor repeats",
                    result_.order[end].name, result_.order[later].name));
            }
        }
    }

    void number_holes() {
        std::vector<std::uint64_t> holes_after(nodes_.size(), 0);
        std::uint32_t used = 0;
        for (std::size_t at = 0; at < node_at_.size(); ++at) {
            OrderedTask& task = result_.order[at];
            for (const std::uint32_t before : predecessors_[node_at_[at]]) task.holes |= holes_after[before];
            const TaskInfo& info = *nodes_[node_at_[at]].info;
            if (info.options.may_skip && !info.ends_segment()) {
                if (used == 64) {
                    faults_.push_back(fmt::format("{}: more than 64 replicable tasks may skip", task.name));
                    return;
                }
                task.own_hole = std::uint64_t{1} << used++;
            }
            holes_after[node_at_[at]] = task.holes | task.own_hole;
        }
    }

    const Graph& graph_;
    std::vector<std::string> faults_;
    std::vector<Node> nodes_;                     // all tasks, in order of declaration
    std::vector<std::uint32_t> first_of_module_;  // its first task's node
    Links successors_;
    Links predecessors_;
    std::vector<std::uint32_t> group_of_;  // a group is named after one of its nodes
    std::vector<std::uint32_t> node_at_;   // per position in the order
    std::uint32_t segment_ = 0;
    Structure result_{};
};

}  // namespace

Structure structure_of(const Graph& graph) {
    return Analysis(graph).structure();
}

}  // namespace tidemill
