#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "tidemill/machine/topology.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// The "memory bound micro-benchmark" of the poster "Streaming applications on SoCs": a chain of streaming
/// increments of one buffer, a task per stage and a stage per core of the topology, at least two and at most
/// sixteen. The first task clears the buffer.
class IncrementChain {
  public:
    /// Buffers of `bytes`, a multiple of 4, on cores of `topology`, which must outlive the chain.
    IncrementChain(std::size_t bytes, const Topology& topology);
    ~IncrementChain();

    std::size_t stages() const;

    /// Bytes of all frames in flight in the last pipeline.
    std::size_t token_bytes() const;

    /// Nanoseconds between frames at the end of the chain, once memory has been touched and caches are
    /// filled: of the pipeline, waiting actively, or in order on the first core where no pinning is given.
    /// Throws std::logic_error where an increment is missing.
    double frame_ns(std::optional<Pinning> pinning);

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tidemill
