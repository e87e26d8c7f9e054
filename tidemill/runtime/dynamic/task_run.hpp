#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/runtime/execute/frame_failure.hpp"
#include "tidemill/runtime/execute/stream_stop.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"

namespace tidemill {

/// A frame of a segment, and which of the segment's tokens carries it.
struct CarriedFrame {
    std::uint64_t frame = 0;
    std::uint32_t token = 0;

    CarriedFrame next(std::uint32_t tokens) const { return {frame + 1, token + 1 == tokens ? 0 : token + 1}; }
    /// So many frames on, at most once around.
    CarriedFrame ahead(std::uint32_t frames, std::uint32_t tokens) const {
        const std::uint32_t there = token + frames;
        return {frame + frames, there >= tokens ? there - tokens : there};
    }
};

/// Tasks of one unit, on frames that follow each other, for one worker.
struct TaskRun {
    std::uint32_t unit;
    std::uint32_t frames;     ///< how many
    CarriedFrame first;       ///< in the unit's segment
    std::uint64_t limit;      ///< frames from there on only pass by: the stream has ended
    bool resumed = false;     ///< the frame was begun: its last task said again
    CarriedFrame out{};       ///< of a unit that emits: the frame of the next segment that it may fill
    std::uint64_t ticks = 0;  ///< filled in by the worker: what it all took
    bool emitted = false;     ///< filled in by the worker: `out` exists now
    bool again = false;       ///< filled in by the worker: the last task has more
};

/// From where on tasks of a segment do not run any more: a frame, on which earlier units still do.
struct FrameLimit {
    std::uint64_t frame = kEndless;
    std::uint32_t unit = 0;

    /// The first frame on which a unit is not to run.
    std::uint64_t of(std::uint32_t its_unit) const { return its_unit < unit ? frame + 1 : frame; }

    auto operator<=>(const FrameLimit&) const = default;
};

/// Why a stream ended, and where in it.
struct StreamEnd {
    std::uint32_t segment;
    FrameLimit limit;
    std::optional<FrameFailure> error;  ///< none: a task said stop
    StreamStop stop{};                  ///< that task

    /// Frames that a segment's last task has emitted came before the input it works on, so all upstream may
    /// be dropped at once.
    FrameLimit limit_in(std::uint32_t its_segment) const {
        if (its_segment == segment) return limit;
        return its_segment < segment ? FrameLimit{0, 0} : FrameLimit{};
    }
};

/// Runs that a worker holds between its turns at the board.
struct HeldRuns {
    std::vector<TaskRun> runs;
    std::uint64_t expected_ticks = 0;  ///< of all runs, on the worker's kind of core
    std::vector<StreamEnd> ends;       ///< filled in by the worker: why the stream ends

    bool empty() const { return runs.empty(); }
};

}  // namespace tidemill
