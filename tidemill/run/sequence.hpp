#pragma once

#include <memory>

#include "tidemill/graph/graph.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/run_options.hpp"

namespace tidemill {

class Engine;
struct Structure;

/// Runs a graph in order on the calling thread.
class Sequence {
  public:
    /// Throws GraphError naming every fault of the graph.
    explicit Sequence(Graph& graph);
    ~Sequence();

    /// Runs until the source stops, or as the options say; throws FrameError when a task throws.
    RunReport run(const RunOptions& options = {});

    /// Runs on where the last run ended; frame numbers go on, too.
    RunReport resume(const RunOptions& options = {});

    const Graph& graph() const;

    /// The graph in order, with its units and segments.
    const Structure& structure() const;

  private:
    std::unique_ptr<Engine> engine_;
};

}  // namespace tidemill
