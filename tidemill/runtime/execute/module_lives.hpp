#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill {

/// Tells the modules of a graph that a run begins and, when this goes, that it is over.
class ModuleLives {
  public:
    /// Calls begin() on each. `next_frames` are the branches' next frames. Throws ModuleError where one
    /// throws, after end() was called on those before it.
    ModuleLives(const Graph& graph, const Structure& structure, const std::vector<std::uint64_t>& next_frames,
                bool goes_on);
    /// The run has failed, and that is told: what end() throws is not.
    ~ModuleLives();
    ModuleLives(const ModuleLives&) = delete;
    ModuleLives& operator=(const ModuleLives&) = delete;

    /// Calls end() on all; throws ModuleError for the first that throws.
    void end();

  private:
    void end_quietly();

    const Graph& graph_;
    std::size_t begun_ = 0;
};

}  // namespace tidemill
