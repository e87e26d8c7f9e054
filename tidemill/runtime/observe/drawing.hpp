#pragma once

#include <string>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Content of a drawing of a graph besides tasks and bindings.
struct DrawingOptions {
    const Schedule* schedule = nullptr;  ///< stages, with their threads
    const RunReport* report = nullptr;   ///< times of tasks, and how busy stages were
};

/// The graph in Graphviz's language. Tasks whose outputs begin a new segment have a double border; bindings
/// across segments are dashed. Throws GraphError when the graph is faulty, ScheduleError when the schedule is
/// for another one.
std::string to_dot(const Graph& graph, const DrawingOptions& options = {});

/// The same as a picture of our own layout: stages from left to right, their tasks from top to bottom.
std::string to_svg(const Graph& graph, const DrawingOptions& options = {});

}  // namespace tidemill
