#pragma once

#include <vector>

#include "tidemill/runtime/graph/internal/task_graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::internal {

/// A sentence for each socket that would read marks over a segment's end: the frames behind it are others,
/// and what lay where in those before is known to the task there alone.
Faults faults_of_marks(const Graph& graph, const std::vector<OrderedTask>& order);

}  // namespace tidemill::internal
