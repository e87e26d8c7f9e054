#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemill/runtime/stream/journal.hpp"

namespace tidemill {

/// The source frames that one thread drops where they begin, written to a journal where there is one.
class DroppedFrames {
  public:
    /// Those of `replay` are dropped again. Both may be null.
    DroppedFrames(const JournalRecord* replay, Journal* journal) : replay_(replay), journal_(journal) {}

    /// Whether the frame was dropped in the run that is replayed; then it is again. Asked in order.
    bool replays(std::uint64_t frame) {
        const bool dropped = replay_ && replay_->is_dropped(frame, next_replayed_);
        if (dropped) add(frame);
        return dropped;
    }

    void add(std::uint64_t frame);

    /// The frames behind the last one that was dropped are not.
    void pass() {
        if (untold_.frames > 0) tell();
    }

    std::uint64_t count() const { return count_; }

  private:
    void tell();

    const JournalRecord* replay_;
    Journal* journal_;
    std::uint64_t count_ = 0;
    JournalRecord::Drop untold_{0, 0};
    std::size_t next_replayed_ = 0;
};

}  // namespace tidemill
