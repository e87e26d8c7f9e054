#pragma once

#include "tidemill/run/executor.hpp"

namespace tidemill {

/// Runs a graph in order on the calling thread.
class Sequence : public Executor {
  public:
    /// Throws GraphError naming every fault of the graph.
    explicit Sequence(Graph& graph);
};

}  // namespace tidemill
