#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill {

/// Runs copies of a graph side by side, each in order on a thread of its own and each with its own state: the
/// way to spend all cores on a simulation whose streams need not be one. The stream of copy d of n is made of
/// the frames d, d + n, d + 2n, ..., so what follows from a frame's number alone is computed once.
class Duplicates {
  public:
    /// `graph` itself is the first of `copies`. Throws GraphError when it is faulty or a module cannot be
    /// copied.
    Duplicates(Graph& graph, std::size_t copies);
    ~Duplicates();

    /// Runs all copies until their sources stop, or as the options say, which count frames of all together;
    /// then the modules' totals are merged into those of the graph. Returns a report per copy. When a task
    /// throws, the other copies are ended, too, and the FrameError of the first copy that failed is thrown.
    /// `stop_when` is asked by every copy; observers are refused.
    std::vector<RunReport> run(const RunOptions& options = {});

  private:
    struct Copies;

    std::unique_ptr<Copies> copies_;
};

}  // namespace tidemill
