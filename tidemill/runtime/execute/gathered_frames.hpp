#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/graph/frame.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill {

/// The frames of a call, as its task sees them: from where it begins to where it ends.
struct GatheredCall {
    std::vector<internal::FrameContext> contexts{};
    std::vector<FrameMark*> marks{};
    std::uint64_t begin_ticks = 0;  ///< what its beginning took

    void clear() {
        contexts.clear();
        marks.clear();
    }
    void add(const internal::FrameContext& context, FrameMark& mark) {
        contexts.push_back(context);
        marks.push_back(&mark);
    }
};

/// The frames that a thread's only task takes at once, how long the first of them waits for the others, and
/// in which places of the task such calls are under way.
class GatheredFrames {
  public:
    /// At most so many; 1: the task takes frame by frame.
    GatheredFrames(std::uint32_t most, std::uint32_t places, double wait_us)
        : most_(most),
          wait_ticks_(static_cast<std::uint64_t>(1000 * wait_us / ns_per_tick())),
          calls_(places) {}

    std::uint32_t most() const { return most_; }
    std::uint32_t places() const { return static_cast<std::uint32_t>(calls_.size()); }

    std::size_t place_to_begin() const { return begun_ % calls_.size(); }
    GatheredCall& to_begin() { return calls_[place_to_begin()]; }
    void has_begun() { ++begun_; }
    std::size_t place_to_end() const { return ended_ % calls_.size(); }
    GatheredCall& to_end() { return calls_[place_to_end()]; }
    void has_ended() { ++ended_; }

    /// The first one is there.
    void begin() { since_ = wait_ticks_ > 0 ? ticks() : 0; }
    bool waits_on() const { return ticks() - since_ < wait_ticks_; }

  private:
    std::uint32_t most_;
    std::uint64_t wait_ticks_;
    std::uint64_t since_ = 0;  // the tick of the first one
    std::uint64_t begun_ = 0;  // calls
    std::uint64_t ended_ = 0;
    std::vector<GatheredCall> calls_;  // by place
};

}  // namespace tidemill
