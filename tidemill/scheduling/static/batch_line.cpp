#include "tidemill/scheduling/static/batch_line.hpp"

#include <algorithm>

namespace tidemill {
namespace {

BatchLine line(std::span<const BatchTimes> times, double BatchTimes::*of) {
    const auto count = static_cast<double>(times.size());
    double frames = 0, us = 0;
    for (const BatchTimes& each : times) {
        frames += each.frames / count;
        us += each.*of / count;
    }
    double across = 0, along = 0;
    for (const BatchTimes& each : times) {
        across += (each.frames - frames) * (each.*of - us);
        along += (each.frames - frames) * (each.frames - frames);
    }
    const double slope = along > 0 ? across / along : us / frames;
    BatchLine line;
    line.frame_us = std::clamp(slope, 0.0, us / frames);
    line.batch_us = std::max(0.0, us - line.frame_us * frames);  // or a rounding step below
    return line;
}

}  // namespace

BatchCost batch_line(std::span<const BatchTimes> times) {
    const BatchLine whole = line(times, &BatchTimes::batch_us);
    BatchCost cost{.kind = {}, .batch_us = whole.batch_us, .frame_us = whole.frame_us};
    cost.host_us = times.back().core_us / times.back().frames;
    cost.most_frames = static_cast<int>(times.back().frames);
    cost.alone.copies = line(times, &BatchTimes::copies_us);
    cost.alone.kernel = line(times, &BatchTimes::kernel_us);
    return cost;
}

}  // namespace tidemill
