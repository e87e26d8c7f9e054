#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "tidemill/graph/frame.hpp"
#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/run/token_ring.hpp"

namespace tidemill {

/// The frames that a thread's only task takes at once, how long the first of them waits for the others, and
/// in which places of the task such calls are under way.
class GatheredFrames {
  public:
    /// At most so many; 1: the task takes frame by frame.
    GatheredFrames(std::uint32_t most, std::uint32_t places, double wait_us)
        : most_(most),
          places_(places),
          wait_ticks_(static_cast<std::uint64_t>(1000 * wait_us / ns_per_tick())) {}

    std::uint32_t most() const { return most_; }
    std::uint32_t places() const { return places_; }

    std::size_t place_to_begin() const { return begun_ % places_; }
    /// There, after so many ticks.
    void has_begun(std::uint64_t ticks) {
        ++begun_;
        begin_ticks_.push_back(ticks);
    }
    std::size_t place_to_end() const { return (begun_ - begin_ticks_.size()) % places_; }
    /// What its beginning took.
    std::uint64_t is_ending() {
        const std::uint64_t ticks = begin_ticks_.front();
        begin_ticks_.pop_front();
        return ticks;
    }

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
    std::uint32_t places_;
    std::uint64_t wait_ticks_;
    std::uint64_t since_ = 0;                // the tick of the first one
    std::uint64_t begun_ = 0;                // calls
    std::deque<std::uint64_t> begin_ticks_;  // of those that have not ended
    std::vector<internal::FrameContext> contexts_{};
    std::vector<FrameMark*> marks_{};
};

}  // namespace tidemill
