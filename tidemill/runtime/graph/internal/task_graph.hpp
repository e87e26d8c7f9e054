#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/internal/linear_order.hpp"
#include "tidemill/runtime/graph/internal/links.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::internal {

using Faults = std::vector<std::string>;

/// A task of a graph; its index among all of them is its node in what is found later.
struct TaskNode {
    TaskId id;
    const TaskInfo* info;
    std::string name;  ///< "module.task"
};

/// All tasks of a graph, module by module, in order of declaration.
struct TaskNodes {
    std::vector<TaskNode> all;
    std::vector<std::uint32_t> first_of_module;

    std::size_t size() const { return all.size(); }
    const TaskNode& operator[](std::size_t node) const { return all[node]; }
};

/// A binding of an output to an input, and the tasks at its ends.
struct Binding {
    std::uint32_t from;  // nodes
    std::uint32_t to;
    const Source* source;
    SocketRef input;

    const SocketInfo& input_info() const { return input.module->sockets()[input.index]; }
    const SocketInfo& output_info() const { return source->module->sockets()[source->socket]; }
};

/// Links from tasks to the tasks that they feed.
struct TaskLinks {
    Links forward;   ///< within a frame and turn
    Links all;       ///< the same, and data that comes back for a loop's next turn
    Links backward;  ///< all of them, from reader to writer
};

TaskNodes tasks_of(const Graph& graph);
std::vector<Binding> bindings_of(const Graph& graph, const TaskNodes& tasks);
TaskLinks links_of(const TaskNodes& tasks, const std::vector<Binding>& bindings);
std::vector<ControlNodes> controls_of(const Graph& graph, const TaskNodes& tasks,
                                      const std::vector<Binding>& bindings);

/// How often each task runs per frame, and why that cannot be.
struct FiringCounts {
    std::vector<std::uint64_t> of_node;
    Faults faults;
};
FiringCounts firings_of(const TaskNodes& tasks, const std::vector<Binding>& bindings);

Faults faults_of_modules(const Graph& graph);
Faults faults_of_sockets(const Graph& graph);
Faults faults_of_promises(const TaskNodes& tasks);
Faults faults_of_cycles(const TaskNodes& tasks, const TaskLinks& links);
Faults faults_of_loops(const std::vector<ControlNodes>& controls, const TaskLinks& links);

}  // namespace tidemill::internal
