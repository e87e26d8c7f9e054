#include "tidemill/schedule/batch_line.hpp"

#include <algorithm>

namespace tidemill {

BatchCost batch_line(std::span<const BatchTimes> times) {
    const auto count = static_cast<double>(times.size());
    double frames = 0, us = 0;
    for (const BatchTimes& each : times) {
        frames += each.frames / count;
        us += each.batch_us / count;
    }
    double across = 0, along = 0;
    for (const BatchTimes& each : times) {
        across += (each.frames - frames) * (each.batch_us - us);
        along += (each.frames - frames) * (each.frames - frames);
    }
    const double slope = along > 0 ? across / along : us / frames;
    BatchCost cost;
    cost.frame_us = std::clamp(slope, 0.0, us / frames);
    cost.batch_us = std::max(0.0, us - cost.frame_us * frames);  // or a rounding step below
    cost.host_us = times.back().core_us / times.back().frames;
    cost.most_frames = static_cast<int>(times.back().frames);
    return cost;
}

}  // namespace tidemill
