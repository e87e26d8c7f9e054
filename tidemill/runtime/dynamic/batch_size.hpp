#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemill/scheduling/unequal/task_times.hpp"

namespace tidemill {

/// How many frames have their tasks together, and how far one worker goes on with them from unit to unit: as
/// many as make up for the bookkeeping of short tasks, but so few that all workers have something to do.
class BatchSize {
  public:
    /// Size for a segment with so many tokens; `bundle_ticks` is the work to hand out at once. 0 tokens:
    /// single frames.
    BatchSize(std::uint32_t tokens, std::size_t workers, std::uint64_t bundle_ticks)
        : workers_(workers), bundle_ticks_(bundle_ticks), most_(tokens / workers) {}

    /// Whether a batch may have more than one frame.
    bool may_batch() const { return most_ > 1 && bundle_ticks_ > 0; }

    /// Frames of the batch to come, by what is known of the tasks now: each worker can have one, and a task
    /// on all its frames is no more than what is handed out at once.
    std::uint32_t next(const bridge::TaskTimes& times) {
        if (!may_batch()) return 1;
        std::uint64_t longest = 1;
        std::uint64_t sum = 0;
        for (std::uint32_t unit = 0; unit < times.types(); ++unit) {
            const std::uint64_t least = times.least(unit);
            if (least == 0) return 1;
            longest = std::max(longest, least);
            sum += least;
        }
        frame_ticks_ = sum;
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bundle_ticks_ / longest, 1, most_));
    }

    /// How long one worker may go on with so many frames, unit after unit: its share of all units, but also
    /// what is too little to be shared.
    std::uint64_t share_ticks(std::uint32_t frames) const {
        return std::max(frame_ticks_ / workers_ * frames, bundle_ticks_ / kTooLittle);
    }
    /// Ticks that count for a ready task on a batch, by its time on a frame: with those that follow it.
    std::uint64_t ready_ticks(std::uint32_t frames, std::uint64_t task_ticks) const {
        return frames == 1 ? task_ticks : frames * std::max(task_ticks, frame_ticks_ / workers_);
    }

  private:
    static constexpr std::uint64_t kTooLittle = 4;  // a bundle's parts below which a turn costs more

    std::uint64_t workers_;
    std::uint64_t bundle_ticks_;
    std::uint64_t most_;
    std::uint64_t frame_ticks_ = 0;  // what all tasks on a frame take
};

}  // namespace tidemill
