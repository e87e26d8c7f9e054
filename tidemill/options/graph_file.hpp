#pragma once

#include <optional>
#include <string>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::cli {

/// Throws WrongUsage unless the name of a drawing ends in .svg or .dot.
void check_graph_file(const std::string& path);

/// Draws a graph with the results of a run of it, as a picture or in Graphviz's language, as the file's name
/// says.
void write_graph_file(const std::string& path, const Graph& graph, const std::optional<Schedule>& schedule,
                      const RunReport& report);

}  // namespace tidemill::cli
