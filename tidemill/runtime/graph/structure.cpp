#include "tidemill/runtime/graph/structure.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "tidemill/runtime/graph/internal/branches.hpp"
#include "tidemill/runtime/graph/internal/counts.hpp"
#include "tidemill/runtime/graph/internal/linear_order.hpp"
#include "tidemill/runtime/graph/internal/marks.hpp"
#include "tidemill/runtime/graph/internal/open_delays.hpp"
#include "tidemill/runtime/graph/internal/stream_ends.hpp"
#include "tidemill/runtime/graph/internal/task_graph.hpp"

namespace tidemill {

namespace {

using internal::Faults;
using internal::LinearOrder;
using internal::Links;
using internal::TaskLinks;
using internal::TaskNode;
using internal::TaskNodes;

// All that a pass and its neighbours have found is reported at once.
void refuse(std::initializer_list<Faults> found) {
    Faults all;
    for (const Faults& faults : found) all.insert(all.end(), faults.begin(), faults.end());
    if (!all.empty()) throw GraphError(std::move(all));
}

// Per node, one that must be in the same unit: the tasks of a module with state, or of a switch or loop.
std::vector<std::uint32_t> partners(const Graph& graph, const TaskNodes& tasks) {
    const auto shares = [](const TaskInfo& task) {
        return task.options.replication != Replication::pure || task.control != internal::ControlKind::none;
    };
    std::vector<std::uint32_t> together;
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
        const Module& module = graph.module(tasks[node].id.module);
        const bool parted = module.tasks_independent() || std::ranges::none_of(module.tasks(), shares);
        together.push_back(parted ? node : tasks.first_of_module[tasks[node].id.module]);
    }
    return together;
}

internal::OrderProblem order_problem(const Graph& graph, const TaskNodes& tasks, const TaskLinks& links,
                                     std::vector<internal::ControlNodes> controls,
                                     const std::vector<internal::OpenDelay>& open) {
    internal::OrderProblem problem{{}, links.forward,      links.all, partners(graph, tasks),
                                   {}, std::move(controls)};
    for (const internal::OpenDelay& delay : open) {
        problem.together[delay.reads] = delay.reads;
        problem.together[delay.writes] = delay.writes;
    }
    for (const TaskNode& task : tasks.all) {
        problem.names.push_back(task.name);
        problem.ends_segment.push_back(task.info->ends_segment());
    }
    return problem;
}

// Tasks in order with the segments that they are in; which skips concern them comes later.
std::vector<OrderedTask> ordered_tasks(const TaskNodes& tasks, const LinearOrder& order,
                                       const std::vector<std::uint64_t>& firings) {
    std::vector<OrderedTask> ordered;
    std::uint32_t segment = 0;
    for (const std::uint32_t node : order.nodes) {
        const bool ends = tasks[node].info->ends_segment();
        ordered.push_back({tasks[node].id, tasks[node].name, segment, ends, 0, 0,
                           static_cast<std::uint32_t>(firings[node])});
        if (ends) ++segment;
    }
    return ordered;
}

// A task that is pure by its form alone makes outputs; where nobody reads them, it is there for another
// effect.
bool is_replicable(const TaskInfo& info, bool is_read) {
    return info.options.replication != Replication::sequential && (info.basis != Basis::form || is_read);
}

bool lacks_word(const Graph& graph, const TaskNode& task, bool is_read) {
    const auto reads = [&](const SocketInfo& socket) {
        return socket.task == task.id.task && socket.direction != Direction::out && !socket.knob;
    };
    return task.info->basis == Basis::silence && is_read &&
           std::ranges::any_of(graph.module(task.id.module).sockets(), reads);
}

ScheduledUnit unit_of(const Graph& graph, const TaskNodes& tasks, const TaskLinks& links,
                      const LinearOrder& order, const StepRange& range) {
    ScheduledUnit unit{"", {}, true, false};
    bool for_want_of_words = true;
    for (std::uint32_t step = range.begin; step < range.end; ++step) {
        const std::uint32_t node = order.nodes[step];
        const bool is_read = !links.all[node].empty();
        const bool replicable = is_replicable(*tasks[node].info, is_read);
        unit.name += (unit.name.empty() ? "" : "+") + tasks[node].name;
        unit.tasks.push_back(step);
        unit.replicable &= replicable;
        for_want_of_words &= replicable || lacks_word(graph, tasks[node], is_read);
    }
    unit.lacks_word = !unit.replicable && for_want_of_words;
    return unit;
}

FlightLimit flight_limit(const TaskNodes& tasks, const std::vector<internal::OpenDelay>& open) {
    const auto shortest = std::ranges::min_element(open, {}, &internal::OpenDelay::frames);
    if (shortest == open.end()) return {};
    return {shortest->frames, tasks[shortest->reads].name};
}

// Gives each replicable task that may skip a bit of its own; behind these come those of branches,
// of dropped frames, and the end's.
Faults number_holes(const TaskNodes& tasks, const std::vector<std::uint32_t>& nodes, const Structure& found,
                    std::vector<OrderedTask>& order, std::uint32_t& used) {
    const std::uint32_t taken = internal::any_branches(order) ? found.segments + 2
                                : found.ends.empty()          ? 0
                                                              : 1;
    const std::uint32_t most = 64 - std::min(64U, taken);
    for (std::size_t at = 0; at < order.size(); ++at) {
        if (!tasks[nodes[at]].info->options.may_skip || order[at].ends_segment) continue;
        if (used == most)
            return {fmt::format("{}: more than {} replicable tasks may skip", order[at].name, most)};
        order[at].own_hole = std::uint64_t{1} << used++;
    }
    return taken > 64 ? Faults{"more than 61 tasks begin branches of the stream"} : Faults{};
}

// Gives each task the bits of those it depends on, once along the order; returns whether that changed any.
bool pass_holes_on(const Links& backward, const std::vector<std::uint32_t>& nodes,
                   std::vector<OrderedTask>& order) {
    std::vector<std::uint64_t> after(nodes.size(), 0);
    for (std::size_t at = 0; at < nodes.size(); ++at) after[nodes[at]] = order[at].holes | order[at].own_hole;
    bool changed = false;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        const std::uint64_t known = order[at].holes;
        for (const std::uint32_t before : backward[nodes[at]]) order[at].holes |= after[before];
        changed |= order[at].holes != known;
        after[nodes[at]] |= order[at].holes;
    }
    return changed;
}

}  // namespace

Structure structure_of(const Graph& graph) {
    const TaskNodes tasks = internal::tasks_of(graph);
    refuse({internal::faults_of_modules(graph), internal::faults_of_sockets(graph),
            internal::faults_of_promises(tasks), internal::faults_of_told_tasks(graph, tasks)});
    refuse({internal::faults_of_counts(graph)});
    const std::vector<internal::Binding> bindings = internal::bindings_of(graph, tasks);
    const TaskLinks links = internal::links_of(tasks, bindings);
    const internal::FiringCounts firings = internal::firings_of(tasks, bindings);
    refuse({internal::faults_of_cycles(tasks, links), firings.faults});
    const auto controls = internal::controls_of(graph, tasks, bindings);
    refuse({internal::faults_of_loops(controls, links)});
    const std::vector<internal::OpenDelay> open = internal::open_delays(tasks, links, firings.of_node);
    const internal::OrderProblem problem = order_problem(graph, tasks, links, controls, open);
    LinearOrder order = internal::linear_order(problem);
    refuse({order.faults});

    internal::StreamEnds ends = internal::stream_ends_of(tasks, bindings, links, order);
    Structure found{
        ordered_tasks(tasks, order, firings.of_node), {}, 0, std::move(order.regions), std::move(ends.ends)};
    for (const StepRange& range : order.units) {
        found.units.push_back(unit_of(graph, tasks, links, order, range));
    }
    found.flight = flight_limit(tasks, open);
    found.segments = found.order.back().segment + (found.order.back().ends_segment ? 2 : 1);
    std::uint32_t holes = 0;
    refuse({internal::find_branches(problem, order.nodes, found.order), ends.faults,
            internal::faults_of_marks(graph, found.order),
            number_holes(tasks, order.nodes, found, found.order, holes)});
    // A loop leads holes back to its beginning, so one pass may not be enough.
    while (pass_holes_on(links.backward, order.nodes, found.order)) {
    }
    found.branches = internal::number_branches(holes, found.order);
    return found;
}

}  // namespace tidemill
