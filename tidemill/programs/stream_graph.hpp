#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/programs/synthetic_work.hpp"
#include "tidemill/sim/stream_program.hpp"

namespace tidemill {

/// A StreamIt graph as a graph of modules: a task per kernel, its rates, its state, and its time, passed by
/// made-up arithmetic on what it reads and keeps.
class StreamModules {
  public:
    StreamModules(const StreamGraph& stream, Pastime pastime);

    Graph& graph() { return graph_; }

    /// What all kernels have given so far, with the frames' numbers, in one number.
    std::uint64_t digest() const;

  private:
    class KernelModule;
    class Initial;

    Graph graph_;
    std::vector<const KernelModule*> kernels_;
};

}  // namespace tidemill
