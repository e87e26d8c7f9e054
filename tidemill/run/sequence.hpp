#pragma once

#include "tidemill/run/engine.hpp"

namespace tidemill {

/// Runs a graph in order on the calling thread.
class Sequence {
  public:
    /// Throws GraphError naming every fault of the graph.
    explicit Sequence(Graph& graph);

    /// Runs until the source stops, or as the options say; throws FrameError when a task throws.
    RunReport run(const RunOptions& options = {}) { return engine_.run(options); }

    /// Runs on where the last run ended; frame numbers go on, too.
    RunReport resume(const RunOptions& options = {}) { return engine_.resume(options); }

    const Graph& graph() const { return engine_.graph(); }

    /// The graph in order, with its units and segments.
    const Structure& structure() const { return engine_.structure(); }

  private:
    Engine engine_;
};

}  // namespace tidemill
