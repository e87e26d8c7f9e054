#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tidemill/runtime/dynamic/task_run.hpp"

namespace tidemill {

/// The frames of a segment that are in flight, each with its token, in batches: frames that follow each other
/// and have their tasks together. A batch goes by its first frame and token. Tasks of several batches end in
/// any order; batches retire in theirs, and so do tokens come free.
class FramesInFlight {
  public:
    FramesInFlight(std::uint32_t tokens, std::uint64_t first_frame)
        : oldest_{first_frame, 0}, next_{first_frame, 0}, marks_(tokens), frames_(tokens) {}

    std::uint32_t tokens() const { return static_cast<std::uint32_t>(frames_.size()); }
    bool full() const { return !has_room(1); }
    /// Whether so many tokens are free.
    bool has_room(std::uint64_t frames) const { return next_.frame - oldest_.frame + frames <= tokens(); }

    /// The frame to be created next; its token is free unless the segment is full.
    const CarriedFrame& next() const { return next_; }
    /// The oldest frame in flight, or next() where there is none.
    const CarriedFrame& oldest() const { return oldest_; }

    std::uint64_t frame_in(std::uint32_t token) const { return frames_[token].number; }
    std::uint64_t iteration_in(std::uint32_t token) const { return frames_[token].iteration; }
    /// How many frames the batch has.
    std::uint32_t batch_in(std::uint32_t token) const { return frames_[token].frames; }
    /// Token of the batch before, which may have retired.
    std::uint32_t token_before(std::uint32_t token) const { return frames_[token].token_before; }

    /// Per token.
    std::span<FrameMark> marks() { return marks_; }

    /// A batch from next() on is there, with so many tasks.
    CarriedFrame create(std::uint64_t iteration, std::uint32_t tasks, std::uint32_t frames) {
        frames_[next_.token] = {next_.frame, iteration, tasks, frames, newest_token_};
        newest_token_ = next_.token;
        return std::exchange(next_, next_.ahead(frames, tokens()));
    }
    void complete_task(std::uint32_t token) { --frames_[token].unfinished; }

    bool can_retire() const { return oldest_.frame < next_.frame && frames_[oldest_.token].unfinished == 0; }
    /// The oldest batch, whose tokens are free now.
    CarriedFrame retire() {
        return std::exchange(oldest_, oldest_.ahead(frames_[oldest_.token].frames, tokens()));
    }

    /// No frame is to be created from there on.
    std::uint64_t end() const { return end_; }
    void end_at(std::uint64_t frame) { end_ = std::min(end_, frame); }

    const FrameLimit& limit() const { return limit_; }
    void limit_to(const FrameLimit& limit) { limit_ = std::min(limit_, limit); }

  private:
    struct Frame {
        std::uint64_t number = 0;
        std::uint64_t iteration = 0;
        std::uint32_t unfinished = 0;    // tasks
        std::uint32_t frames = 1;        // of the batch
        std::uint32_t token_before = 0;  // of the batch before
    };

    CarriedFrame oldest_;
    CarriedFrame next_;
    std::uint32_t newest_token_ = 0;  // of the newest batch
    std::uint64_t end_ = kEndless;
    FrameLimit limit_;
    std::vector<FrameMark> marks_;  // per token
    std::vector<Frame> frames_;     // per token, where a batch begins there
};

}  // namespace tidemill
