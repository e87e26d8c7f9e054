#pragma once

#include "tidemill/runtime/execute/executor.hpp"

namespace tidemill {

/// Runs a graph in order on the calling thread.
class Sequence : public Executor {
  public:
    /// Throws GraphError naming every fault of the graph.
    explicit Sequence(Graph& graph);
};

}  // namespace tidemill
