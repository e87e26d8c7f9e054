#pragma once

#include <string>
#include <vector>

#include "bindings/python.hpp"
#include "bindings/python_task.hpp"

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::python {

/// A graph as Python builds it: modules are known by their numbers. One thread at a time, by the
/// interpreter's lock, or where there is none the graph's own.
class PythonGraph {
  public:
    explicit PythonGraph(std::string name) : graph_(std::move(name)) {}

    Graph& graph() { return graph_; }
    /// To add to it, or bind; throws GraphError while it is being run.
    Graph& graph_to_change();
    const Graph& graph() const { return graph_; }

    /// The number of the new module.
    std::size_t add(std::string name, const std::vector<PythonSocket>& sockets,
                    const std::vector<PythonKnob>& knobs, TaskOptions options, PythonCall call);

    SocketRef socket(std::size_t module, const std::string& name) const {
        return graph_.module(module)[name];
    }

    /// Feeds an input with the same data on every frame; throws GraphError when they do not fit.
    void bind_constant(nb::handle data, std::size_t module, const std::string& socket);

    /// Raises KeyboardInterrupt in calls of its tasks that have not come back. Needs the interpreter's lock.
    void interrupt_tasks();

    /// Held while the graph runs, made and ended with the interpreter's lock: then no array is needed any
    /// more.
    class Running {
      public:
        /// Throws GraphError when the graph is being run.
        explicit Running(PythonGraph& graph);
        ~Running();
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

      private:
        PythonGraph& graph_;
    };

  private:
    bool is_running_ = false;
    Graph graph_;
    std::vector<PythonTask*> tasks_;
};

/// Names of the units in the chain that schedulers see. Throws GraphError with every fault of the graph.
std::vector<std::string> unit_names(const Graph& graph);

void bind_graph(nb::module_& module);

}  // namespace tidemill::python
