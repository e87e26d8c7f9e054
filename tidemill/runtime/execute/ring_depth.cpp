#include "tidemill/runtime/execute/ring_depth.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/static/batch_line.hpp"
#include "tidemill/scheduling/static/frame_alone.hpp"

namespace tidemill {

namespace {

// Latency as a function of the depth of all rings: what stages hold, and what each place in the rings adds.
struct LatencyLine {
    double held_us = 0;
    double per_depth_us = 0;
    double batches_us = 0;  // of devices, whose frames are theirs, however many go together elsewhere
};

RingDepth deepest(double wanted_us, LatencyLine line, double frames = 1) {
    if (!(wanted_us > 0)) {
        throw RunError(fmt::format("a latency of {} us is wanted; give more than 0", wanted_us));
    }
    constexpr double kDeepest = 1 << 10;  // more memory than any frame is worth
    const double most_us = wanted_us - line.batches_us;
    const double most_frames = std::floor(most_us / (line.held_us + line.per_depth_us));
    frames = std::clamp(frames, 1.0, std::max(1.0, most_frames));
    line = {frames * line.held_us, frames * line.per_depth_us, line.batches_us};
    double depth = line.per_depth_us > 0 ? (most_us - line.held_us) / line.per_depth_us : 1;
    depth = std::clamp(std::floor(depth), 1.0, kDeepest);
    return {static_cast<std::size_t>(depth), static_cast<std::uint32_t>(frames),
            line.held_us + depth * line.per_depth_us + line.batches_us};
}

}  // namespace

RingDepth ring_depth_for(double wanted_us, const RunReport& report) {
    LatencyLine line;
    for (const SegmentReport& segment : report.segments) {
        if (segment.frames == 0) {
            throw RunError(
                "no ring depth follows from a run in which a segment saw no frames; run longer, with "
                "statistics");
        }
        const double period_us = report.elapsed_s * 1e6 / static_cast<double>(segment.frames);
        line.held_us += static_cast<double>(segment.held) * period_us;
        line.per_depth_us += static_cast<double>(segment.rings) * period_us;
    }
    return deepest(wanted_us, line);
}

RingDepth ring_depth_for(double wanted_us, const Schedule& schedule, const Profile& profile, double hop_us) {
    constexpr double kHopShare = 0.01;
    constexpr double kLots = kBatchesUnderWay + 1;  // the next one comes together meanwhile
    check(schedule, profile);
    const double period = period_us(schedule, profile);
    LatencyLine line{.per_depth_us = static_cast<double>(schedule.stages.size() - 1) * period};
    for (const Stage& stage : schedule.stages) {
        line.held_us += static_cast<double>(stage.frames_held()) * period;
        if (stage.batch) line.batches_us += kLots * executions_per_batch(stage, profile) * period;
    }
    return deepest(wanted_us, line, std::ceil(hop_us / (kHopShare * period)));
}

}  // namespace tidemill
