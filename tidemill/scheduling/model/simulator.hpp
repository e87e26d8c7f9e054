#pragma once

#include <cstdint>
#include <functional>

#include "tidemill/scheduling/model/pipeline_model.hpp"
#include "tidemill/scheduling/model/sim_report.hpp"

namespace tidemill {

/// One frame's stay in one stage, reported when it ends.
struct SimStep {
    std::size_t stage;
    std::size_t thread;
    std::uint64_t frame;
    double begin_us;
    double end_us;
};

/// Runs `frames` frames through a modelled pipeline by the rules of the run room: frame k belongs to thread k
/// mod threads of each stage, or to the one that its word says, and uses token k mod tokens; a thread takes
/// its frames in order, when the stage before has handed the token over and, at the first stage, when frame k
/// - tokens has left the last one. Cores of a kind slow down together as more of them work. The same model
/// gives the same report, always. `observe` gets every step, in order of their ends. Throws ScheduleError for
/// a senseless model.
SimReport simulate(const PipelineModel& model, std::uint64_t frames,
                   const std::function<void(const SimStep&)>& observe = {});

}  // namespace tidemill
