#include "tidemill/runtime/graph/internal/stream_ends.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill::internal {
namespace {

using Chosen = std::vector<bool>;  // nodes

// Values that a circle hands over from earlier frames take part where the circle does.
void add_recalling(const TaskNodes& tasks, Chosen& runs) {
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
        if (tasks[node].info->recalls == 0) continue;
        const std::uint32_t module = tasks[node].id.module;
        for (std::uint32_t other = tasks.first_of_module[module];
             other < tasks.size() && tasks[other].id.module == module; ++other) {
            if (runs[other]) runs[node] = true;
        }
    }
}

void tell_starved(const TaskNodes& tasks, const std::vector<Binding>& bindings, std::uint32_t told,
                  const Chosen& runs, Faults& faults) {
    for (const Binding& binding : bindings) {
        if (binding.to == told || !runs[binding.to] || runs[binding.from]) continue;
        faults.push_back(
            fmt::format("{} follows from {}, which gives frames at the stream's end, but also reads {}, "
                        "which has none then: "
                        "hand that on through {}",
                        tasks[binding.to].name, tasks[told].name,
                        binding.source->module->path_of_socket(binding.source->socket), tasks[told].name));
    }
}

Chosen by_place(const Chosen& nodes, const LinearOrder& order) {
    Chosen steps;
    for (const std::uint32_t node : order.nodes) steps.push_back(nodes[node]);
    return steps;
}

// Returns whether it is.
bool tell_inside(const TaskNodes& tasks, std::uint32_t step, const LinearOrder& order, Faults& faults) {
    for (const Region& region : order.regions) {
        if (step < region.steps.begin || step >= region.steps.end) continue;
        faults.push_back(
            fmt::format("{} is in a {}, whose tasks run on no frame at the stream's end: declare it "
                        "without at_end, or put it outside",
                        tasks[order.nodes[step]].name, region.is_loop ? "loop" : "switch"));
        return true;
    }
    return false;
}

}  // namespace

Faults faults_of_told_tasks(const Graph& graph, const TaskNodes& tasks) {
    Faults faults;
    for (const TaskNode& task : tasks.all) {
        if (!task.info->options.at_end) continue;
        if (task.info->options.replication != Replication::sequential)
            faults.push_back(fmt::format("{}: at_end needs a sequential task", task.name));
        for (const SocketInfo& socket : graph.module(task.id.module).sockets()) {
            const bool is_changed = socket.direction == Direction::forward && !socket.marked;
            if (socket.task != task.id.task || !is_changed) continue;
            faults.push_back(
                fmt::format("{}: at the stream's end there is nothing to change in place in {}: give it "
                            "an input and an output",
                            task.name, socket.name));
        }
    }
    return faults;
}

StreamEnds stream_ends_of(const TaskNodes& tasks, const std::vector<Binding>& bindings,
                          const TaskLinks& links, const LinearOrder& order) {
    StreamEnds found;
    for (std::uint32_t step = 0; step < order.nodes.size(); ++step) {
        const std::uint32_t told = order.nodes[step];
        if (!tasks[told].info->options.at_end) continue;
        Chosen runs = reached_from(told, links.all);
        Chosen follows = reached_from(told, links.backward);
        runs[told] = follows[told] = true;
        add_recalling(tasks, runs);
        if (!tell_inside(tasks, step, order, found.faults))
            tell_starved(tasks, bindings, told, runs, found.faults);
        found.ends.push_back({step, by_place(runs, order), by_place(follows, order)});
    }
    return found;
}

}  // namespace tidemill::internal
