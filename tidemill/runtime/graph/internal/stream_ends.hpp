#pragma once

#include <vector>

#include "tidemill/runtime/graph/internal/task_graph.hpp"

namespace tidemill::internal {

/// Faults of tasks that run at the stream's end, besides what follows from them.
Faults faults_of_told_tasks(const Graph& graph, const TaskNodes& tasks);

/// The ends of a stream, in the order of their tasks, and what reads from one of these and from elsewhere,
/// too.
struct StreamEnds {
    std::vector<EndOfStream> ends;
    Faults faults;
};

/// `order` is found: its nodes by their places, and its switches and loops.
StreamEnds stream_ends_of(const TaskNodes& tasks, const std::vector<Binding>& bindings,
                          const TaskLinks& links, const LinearOrder& order);

}  // namespace tidemill::internal
