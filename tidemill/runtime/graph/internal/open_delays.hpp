#pragma once

#include <cstdint>
#include <vector>

#include "tidemill/runtime/graph/internal/task_graph.hpp"

namespace tidemill::internal {

/// A delay that leads a circle back, and need not hold its tasks together. Both its tasks run on all frames.
/// Where no more than `frames` of these are in flight, the frame that is given back has come home before the
/// one that reads it begins: so nothing else orders them, and `frames` places are enough.
struct OpenDelay {
    std::uint32_t reads;   ///< node of the task that gives what was kept
    std::uint32_t writes;  ///< of the one that keeps
    std::uint64_t frames;  ///< from the one to the other
};

/// Those of a graph. A circle stays in one piece where its delay is so short that keeping fewer frames in
/// flight would cost more, and where its tasks may run on other frames, or not once, on each: behind a task
/// that skips, repeats or sees the end, in a switch or loop, and at rates.
std::vector<OpenDelay> open_delays(const TaskNodes& tasks, const TaskLinks& links,
                                   const std::vector<std::uint64_t>& firings);

}  // namespace tidemill::internal
