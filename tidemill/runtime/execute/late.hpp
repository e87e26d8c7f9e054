#pragma once

#include <cstdint>

#include "tidemill/runtime/execute/engine_cut.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/plan.hpp"
#include "tidemill/runtime/report/run_options.hpp"

namespace tidemill {

/// The bit of a frame's holes that says: it was dropped where it began. No task has it for its own skips.
inline constexpr std::uint64_t kDroppedFrame = std::uint64_t{1} << 62;

/// The bit of the tick at which a frame began that says that a task has been reported already for the late
/// frame.
inline constexpr std::uint64_t kToldLate = std::uint64_t{1} << 63;

/// Whether a task makes frames of nothing that flows, now or before: it runs on dropped frames, too.
bool is_source(const Plan& plan, const Step& step, const Module& module);

/// Throws RunError for a graph of which frames cannot be dropped: so many tasks skip that no bit is left.
void check_may_drop(const Plan& plan);

/// Throws RunError, too, where dropping frames that are late would not leave all sources at one frame, or a
/// replay could not do without them.
void check_may_drop_late(const Graph& graph, const Plan& plan, Late late, const EngineCut& cut);

}  // namespace tidemill
