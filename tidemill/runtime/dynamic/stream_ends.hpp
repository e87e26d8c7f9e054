#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tidemill/runtime/dynamic/frames_in_flight.hpp"

namespace tidemill {

/// Where and why a stream ends, and how far its source has been asked.
class StreamEnds {
  public:
    explicit StreamEnds(std::uint64_t first_frame) : issued_end_(first_frame) {}

    /// The source is asked for frames before this one.
    void note_issued(std::uint64_t frames_end) { issued_end_ = std::max(issued_end_, frames_end); }
    std::uint64_t issued_end() const { return issued_end_; }

    /// Limits each segment's `frames`, so that the stream ends where the sequence would have ended it.
    void end(StreamEnd where, std::vector<FramesInFlight>& frames) {
        for (std::uint32_t s = 0; s <= where.segment; ++s) frames[s].limit_to(where.limit_in(s));
        frames[0].end_at(frames[0].next().frame);
        if (!first_ || sooner(where, *first_)) first_ = std::move(where);
    }

    /// Lets those frames pass by of which the source has not been asked.
    void halt(FramesInFlight& source) const {
        source.end_at(source.next().frame);
        if (issued_end_ < source.limit().frame) source.limit_to({issued_end_, 0});
    }

    bool ended() const { return first_.has_value(); }
    /// The end of which a task said that it is the stream's, if that was it.
    const StreamEnd* stopped() const { return first_ && !first_->error ? &*first_ : nullptr; }

    /// Throws the error that the sequence would have met, if any.
    void rethrow() const {
        if (first_ && first_->error) first_->error->raise();
    }

  private:
    // The sequence would have met the end in the last segment first, there on the first frame, there at the
    // first unit.
    static bool sooner(const StreamEnd& a, const StreamEnd& b) {
        return std::tuple(b.segment, a.limit) < std::tuple(a.segment, b.limit);
    }

    std::uint64_t issued_end_;
    std::optional<StreamEnd> first_;  // of several, the one that the sequence would have met
};

}  // namespace tidemill
