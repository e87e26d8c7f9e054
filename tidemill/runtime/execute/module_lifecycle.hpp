#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill {

/// Calls the modules of a graph when a run begins and, when this goes, that it is over.
class ModuleLifecycle {
  public:
    /// Calls begin() on each. `next_frames` are the branches' next frames. Throws ModuleError where one
    /// throws, after end() was called on those before it.
    ModuleLifecycle(const Graph& graph, const Structure& structure,
                    const std::vector<std::uint64_t>& next_frames, bool goes_on);
    /// The run has failed, and that is reported: what end() throws is not.
    ~ModuleLifecycle();
    ModuleLifecycle(const ModuleLifecycle&) = delete;
    ModuleLifecycle& operator=(const ModuleLifecycle&) = delete;

    /// Calls end() on all; throws ModuleError for the first that throws.
    void end();

  private:
    void end_quietly();

    const Graph& graph_;
    std::size_t begun_ = 0;
};

}  // namespace tidemill
