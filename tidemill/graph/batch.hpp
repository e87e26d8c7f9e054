#pragma once

#include <cstddef>
#include <span>

#include "tidemill/graph/frame.hpp"

namespace tidemill {

/// A running task's view of several frames at once, in order; cheap to pass by value. Numbers may have gaps:
/// frames that have ended as holes are left out. How many there are is the executor's choice, and must not
/// change what a frame becomes.
class Batch {
  public:
    Batch(std::span<const internal::FrameContext> contexts, const internal::Address* addresses)
        : contexts_(contexts), addresses_(addresses) {}

    /// At least 1, and at most as many as the task takes.
    std::size_t size() const { return contexts_.size(); }
    Frame operator[](std::size_t index) const { return {contexts_[index], addresses_}; }

  private:
    std::span<const internal::FrameContext> contexts_;
    const internal::Address* addresses_;
};

}  // namespace tidemill
