#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemill/runtime/dynamic/task_run.hpp"
#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/report/durations.hpp"

namespace tidemill {

/// Counts of a stream's frames so far.
struct FrameCounts {
    std::uint64_t begun = 0;
    std::uint64_t delivered = 0;
    std::uint64_t skipped = 0;
    std::uint64_t dropped = 0;
    Durations latencies{};

    /// The source has done what it was asked for, before the stream's end.
    void note_begun(const TaskRun& source_run, std::uint64_t limit) {
        const std::uint64_t end = std::min(source_run.first.frame + source_run.frames, limit);
        begun += end - std::min(end, source_run.first.frame);
    }
    /// A frame has left the last segment, with the bits of those that skipped it.
    void note_left(std::uint64_t holes) {
        if (!(holes & kDroppedFrame)) ++(holes == 0 ? delivered : skipped);
    }
    /// A frame of the source has left the first segment.
    void note_through_source(const FrameMark& mark) { dropped += (mark.holes & kDroppedFrame) != 0; }
};

}  // namespace tidemill
