#pragma once

#include <vector>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::internal {

/// All sockets that will have as many elements as this one, whose count is open, as soon as one of them is
/// bound to a count: over bindings from frame to frame, and over as(). Itself among them.
std::vector<SocketRef> open_with(const Graph& graph, SocketRef socket);

/// Faults of counts that no binding determines.
std::vector<std::string> faults_of_counts(const Graph& graph);

}  // namespace tidemill::internal
