#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/graph/frame.hpp"
#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/run/token_ring.hpp"

namespace tidemill {

/// The frames that a thread's only task takes at once, and how long the first of them waits for the others.
class GatheredFrames {
  public:
    /// At most so many; 1: the task takes frame by frame.
    GatheredFrames(std::uint32_t most, double wait_us)
        : most_(most), wait_ticks_(static_cast<std::uint64_t>(1000 * wait_us / ns_per_tick())) {}

    std::uint32_t most() const { return most_; }

    /// The first one is there.
    void begin() { since_ = wait_ticks_ > 0 ? ticks() : 0; }
    bool waits_on() const { return ticks() - since_ < wait_ticks_; }

    void clear() {
        contexts_.clear();
        marks_.clear();
    }
    void add(const internal::FrameContext& context, FrameMark& mark) {
        contexts_.push_back(context);
        marks_.push_back(&mark);
    }

    std::span<const internal::FrameContext> contexts() const { return contexts_; }
    std::span<FrameMark* const> marks() const { return marks_; }

  private:
    std::uint32_t most_;
    std::uint64_t wait_ticks_;
    std::uint64_t since_ = 0;  // the tick of the first one
    std::vector<internal::FrameContext> contexts_{};
    std::vector<FrameMark*> marks_{};
};

}  // namespace tidemill
