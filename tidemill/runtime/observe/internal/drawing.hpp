#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/task.hpp"
#include "tidemill/runtime/observe/drawing.hpp"

namespace tidemill::internal {

/// A task in a drawing: in which group, and where in it.
struct DrawnTask {
    std::string name;
    Replication replication;
    bool ends_segment;
    std::size_t group;
    std::size_t row = 0;     ///< below all tasks of the group that feed it
    std::size_t column = 0;  ///< among the tasks of its row
    std::optional<double> mean_us{};
    std::optional<double> load{};  ///< share of its stage's time
};

/// All bindings between two tasks.
struct DrawnLink {
    std::size_t from;
    std::size_t to;
    bool crosses_segments;
    std::vector<std::string> sockets{};  ///< "y -> x (float32 x 64)"
};

/// A stage, or the whole graph when there is no schedule.
struct DrawnGroup {
    std::string title;
    std::size_t rows = 0;
    std::size_t columns = 0;
};

/// Content of a drawing, without its layout; tasks in the order in which they run.
struct Drawing {
    std::string name;
    std::vector<DrawnTask> tasks;
    std::vector<DrawnLink> links;  ///< backwards ones (loops, feedback) have from >= to
    std::vector<DrawnGroup> groups;
};

Drawing drawing_of(const Graph& graph, const DrawingOptions& options);

/// Background of a task's box, by how it may be run: "#rrggbb".
const char* colour_of(Replication replication);

/// "12.3 us, 45 %", or how the task may be run when no times are known.
std::string caption_of(const DrawnTask& task);

}  // namespace tidemill::internal
