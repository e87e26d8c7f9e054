#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/run/dynamic/task_run.hpp"

namespace tidemill {

/// The frames of a segment that are in flight, each with its token. Tasks of several frames end in any order;
/// frames retire in theirs, and so do tokens come free.
class FramesInFlight {
  public:
    FramesInFlight(std::uint32_t tokens, std::uint64_t first_frame)
        : oldest_{first_frame, 0}, next_{first_frame, 0}, marks_(tokens), frames_(tokens) {}

    std::uint32_t tokens() const { return static_cast<std::uint32_t>(frames_.size()); }
    bool full() const { return next_.frame - oldest_.frame == tokens(); }

    /// The frame to be created next; its token is free unless the segment is full.
    const CarriedFrame& next() const { return next_; }
    /// The oldest frame in flight, or next() where there is none.
    const CarriedFrame& oldest() const { return oldest_; }

    std::uint64_t frame_in(std::uint32_t token) const { return frames_[token].number; }
    std::uint64_t iteration_in(std::uint32_t token) const { return frames_[token].iteration; }

    /// Per token.
    std::span<FrameMark> marks() { return marks_; }

    /// next() is there, with so many tasks.
    CarriedFrame create(std::uint64_t iteration, std::uint32_t tasks) {
        frames_[next_.token] = {next_.frame, iteration, tasks};
        return std::exchange(next_, next_.next(tokens()));
    }
    void complete_task(std::uint32_t token) { --frames_[token].unfinished; }

    bool can_retire() const { return oldest_.frame < next_.frame && frames_[oldest_.token].unfinished == 0; }
    /// The oldest frame, whose token is free now.
    CarriedFrame retire() { return std::exchange(oldest_, oldest_.next(tokens())); }

    /// No frame is to be created from there on.
    std::uint64_t end() const { return end_; }
    void end_at(std::uint64_t frame) { end_ = std::min(end_, frame); }

    const FrameLimit& limit() const { return limit_; }
    void limit_to(const FrameLimit& limit) { limit_ = std::min(limit_, limit); }

  private:
    struct Frame {
        std::uint64_t number = 0;
        std::uint64_t iteration = 0;
        std::uint32_t unfinished = 0;  // tasks
    };

    CarriedFrame oldest_;
    CarriedFrame next_;
    std::uint64_t end_ = kEndless;
    FrameLimit limit_;
    std::vector<FrameMark> marks_;  // per token
    std::vector<Frame> frames_;     // per token
};

}  // namespace tidemill
