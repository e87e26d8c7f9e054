#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/lab/programs/synthetic_work.hpp"
#include "tidemill/lab/sim/stream_program.hpp"
#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// A StreamIt graph as a graph of modules: a task per task type, its rates, its state, and its time, passed
/// by made-up arithmetic on what it reads and keeps.
class StreamModules {
  public:
    StreamModules(const StreamGraph& stream, Pastime pastime);

    Graph& graph() { return graph_; }

    /// Output of all task types so far, with the frames' numbers, in one number.
    std::uint64_t digest() const;

  private:
    class TypeModule;
    class Initial;

    Graph graph_;
    std::vector<const TypeModule*> types_;
};

}  // namespace tidemill
