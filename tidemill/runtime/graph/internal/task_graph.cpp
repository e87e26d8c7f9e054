#include "tidemill/runtime/graph/internal/task_graph.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/runtime/graph/internal/labels.hpp"
#include "tidemill/runtime/graph/internal/rates.hpp"

namespace tidemill::internal {

namespace {

// Two of the same name: a lookup would get the first.
template <class Named>
void tell_repeated(const Module& module, const char* what, const Named& all, Faults& faults) {
    std::set<std::string> seen;
    for (const auto& each : all) {
        if (seen.insert(each.name).second) continue;
        faults.push_back(
            fmt::format("module '{}' has two {} named '{}': rename one", module.name(), what, each.name));
    }
}

bool runs_once(const TaskInfo& info) {
    return info.options.may_skip || info.options.may_repeat || info.options.at_end ||
           info.control != ControlKind::none;
}

RateLink rate_link(const Binding& binding) {
    const std::uint64_t given = binding.source->streams ? binding.output_info().count : 1;
    const std::uint64_t taken = binding.source->streams ? binding.input_info().count : 1;
    return {
        binding.from, binding.to, given, taken,
        fmt::format("{} ({}) -> {} ({})", binding.source->module->path_of_socket(binding.source->socket),
                    binding.output_info().count, binding.input.module->path_of_socket(binding.input.index),
                    binding.input_info().count)};
}

// Per path of a switch, readers of its commute's output.
std::vector<std::vector<std::uint32_t>> path_readers(const Module& module, std::uint32_t commute,
                                                     const std::vector<Binding>& bindings) {
    std::vector<std::vector<std::uint32_t>> readers;
    std::vector<std::size_t> path_of_socket(module.sockets().size(), 0);
    for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        if (socket.task != 0 || socket.direction != Direction::out) continue;
        path_of_socket[s] = readers.size();
        readers.emplace_back();
    }
    for (const Binding& binding : bindings) {
        if (binding.from == commute) readers[path_of_socket[binding.source->socket]].push_back(binding.to);
    }
    return readers;
}

std::string fault_of_unfed(const Graph& graph, std::size_t module, std::uint32_t index) {
    const std::string path = graph.module(module).path_of_socket(index);
    const SocketInfo& socket = graph.module(module).sockets()[index];
    if (socket.label.empty())
        return fmt::format("{} ({}): nothing feeds it; bind an output or constant data", path,
                           socket.shape());
    const std::vector<SocketRef> owners = nearest_labels(graph, module, index);
    if (owners.empty())
        return fmt::format("{}: no task whose data come to it gives a label '{}' ({}); put one before it",
                           path, socket.label, socket.type.name);
    std::vector<std::string> names;
    for (const SocketRef& owner : owners) names.push_back(owner.module->path_of_socket(owner.index));
    return fmt::format("{}: {} are equally near; bind the one that is meant", path, fmt::join(names, ", "));
}

}  // namespace

TaskNodes tasks_of(const Graph& graph) {
    TaskNodes tasks;
    for (std::uint32_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        tasks.first_of_module.push_back(static_cast<std::uint32_t>(tasks.size()));
        for (std::uint32_t t = 0; t < module.tasks().size(); ++t) {
            tasks.all.push_back({{m, t}, &module.tasks()[t], module.path_of_task(t)});
        }
    }
    return tasks;
}

std::vector<Binding> bindings_of(const Graph& graph, const TaskNodes& tasks) {
    const auto node_of = [&](std::size_t module, std::uint32_t socket) {
        return tasks.first_of_module[module] + graph.module(module).sockets()[socket].task;
    };
    std::vector<Binding> bindings;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const Source* source = graph.source_of(m, s);
            if (!source || !source->module) continue;
            const std::uint32_t from = node_of(graph.index_of(*source->module), source->socket);
            bindings.push_back({from, node_of(m, s), source, {&module, s}});
        }
    }
    return bindings;
}

TaskLinks links_of(const TaskNodes& tasks, const std::vector<Binding>& bindings) {
    TaskLinks links{Links(tasks.size()), Links(tasks.size()), Links(tasks.size())};
    for (const Binding& binding : bindings) {
        links.all[binding.from].push_back(binding.to);
        links.backward[binding.to].push_back(binding.from);
        if (!binding.input_info().late) links.forward[binding.from].push_back(binding.to);
    }
    return links;
}

std::vector<ControlNodes> controls_of(const Graph& graph, const TaskNodes& tasks,
                                      const std::vector<Binding>& bindings) {
    std::vector<ControlNodes> controls;
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
        const ControlKind kind = tasks[node].info->control;
        const std::uint32_t other = node + 1;  // the module's second task
        const Module& module = graph.module(tasks[node].id.module);
        if (kind == ControlKind::loop_select) controls.push_back({true, module.name(), other, node, {}});
        if (kind != ControlKind::switch_commute) continue;
        controls.push_back({false, module.name(), node, other, path_readers(module, node, bindings)});
    }
    return controls;
}

FiringCounts firings_of(const TaskNodes& tasks, const std::vector<Binding>& bindings) {
    std::vector<RateLink> links;
    for (const Binding& binding : bindings)
        if (binding.input_info().label.empty()) links.push_back(rate_link(binding));
    Repetitions repetitions = repetitions_of(static_cast<std::uint32_t>(tasks.size()), links);
    FiringCounts found{std::move(repetitions.firings), {}};
    if (repetitions.fault) found.faults.push_back(*repetitions.fault);
    for (std::size_t n = 0; n < tasks.size(); ++n) {
        if (!runs_once(*tasks[n].info) || found.of_node[n] == 1) continue;
        found.faults.push_back(
            fmt::format("{} would run {} times per frame, but a task that skips, repeats, "
                        "steers or sees the end runs once: make its sockets larger",
                        tasks[n].name, found.of_node[n]));
    }
    return found;
}

Faults faults_of_modules(const Graph& graph) {
    Faults faults;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        if (module.tasks().empty()) faults.push_back(fmt::format("module '{}' has no task", module.name()));
        tell_repeated(module, "tasks", module.tasks(), faults);
        tell_repeated(module, "sockets", module.sockets(), faults);
    }
    if (graph.module_count() == 0) {
        faults.push_back(fmt::format("graph '{}' is empty: add modules", graph.name()));
    }
    return faults;
}

Faults faults_of_sockets(const Graph& graph) {
    Faults faults;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const SocketInfo& socket = module.sockets()[s];
            if (socket.task >= module.tasks().size() && !socket.knob) {
                faults.push_back(fmt::format("{}: belongs to no task; declare it before its task",
                                             module.path_of_socket(s)));
            }
            if (socket.direction != Direction::out && !graph.source_of(m, s))
                faults.push_back(fault_of_unfed(graph, m, s));
        }
    }
    return faults;
}

Faults faults_of_promises(const TaskNodes& tasks) {
    Faults faults;
    for (const TaskNode& task : tasks.all) {
        const TaskOptions& options = task.info->options;
        if (!options.may_repeat || options.replication == Replication::sequential) continue;
        faults.push_back(fmt::format("{}: may_repeat needs a sequential task", task.name));
    }
    return faults;
}

Faults faults_of_cycles(const TaskNodes& tasks, const TaskLinks& links) {
    const auto by_number = [](std::uint32_t node) { return std::pair{false, node}; };
    if (ordered(links.forward, by_number).size() == tasks.size()) return {};
    std::vector<std::string> names;
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
        if (reached_from(node, links.forward)[node]) names.push_back(tasks[node].name);
    }
    return {fmt::format("these tasks wait for each other: {}; break the cycle", fmt::join(names, ", "))};
}

Faults faults_of_loops(const std::vector<ControlNodes>& controls, const TaskLinks& links) {
    Faults faults;
    PathSearch paths(links.forward);
    for (const ControlNodes& loop : controls) {
        if (!loop.is_loop) continue;
        const std::uint32_t first = paths.place(loop.select);
        if (!paths.finds(loop.select, loop.commute, links.forward, first, paths.place(loop.commute))) {
            faults.push_back(
                fmt::format("{0}.data and {0}.control do not depend on {0}.turn: the loop would "
                            "never change",
                            loop.name));
        }
        std::uint32_t last = first;  // of what comes back to the select
        for (const std::uint32_t before : links.backward[loop.select])
            last = std::max(last, paths.place(before));
        if (!paths.finds(loop.commute, loop.select, links.all, first, last) &&
            !reached_from(loop.commute, links.all)[loop.select]) {
            faults.push_back(
                fmt::format("{0}.next does not depend on {0}.body: bind what the body makes, or the "
                            "body itself",
                            loop.name));
        }
    }
    return faults;
}

}  // namespace tidemill::internal
