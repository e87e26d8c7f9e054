#include "tidemill/scheduling/model/internal/frame_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemill/scheduling/static/interruption.hpp"

namespace tidemill::internal {

namespace {

std::uint64_t counted_of(std::uint64_t frames, std::uint64_t group) {
    if (frames < 2) return frames;
    const std::uint64_t half = frames / 2;
    return group <= half ? half / group * group : half;
}

}  // namespace

FrameTimes::FrameTimes(std::uint64_t frames, std::uint64_t tokens, std::uint64_t group)
    : counted_(counted_of(frames, group)),
      uncounted_(frames - counted_),
      begun_us_(std::min(tokens, frames)) {
    latencies_us_.reserve(frames);  // memory that is not there is missed before the work begins
}

void FrameTimes::end(std::uint64_t frame, double now_us) {
    latencies_us_.push_back(now_us - begun_us_[frame % begun_us_.size()]);
    left_us_ = now_us;
    if (frame < uncounted_) uncounted_left_us_ = now_us;
}

double FrameTimes::period_us() const {
    return (left_us_ - uncounted_left_us_) / static_cast<double>(counted_);
}

SimLatency FrameTimes::latency() {
    std::ranges::sort(latencies_us_, [](double a, double b) {
        interruption_point();  // a thousand million frames are sorted for minutes
        return a < b;
    });
    const auto frames = static_cast<double>(latencies_us_.size());
    const auto at = [&](double share) {
        return latencies_us_[static_cast<std::size_t>(std::lround(share * (frames - 1)))];
    };
    const double sum = std::accumulate(latencies_us_.begin(), latencies_us_.end(), 0.0);
    return {sum / frames, at(0), at(0.5), at(0.95), at(0.99), at(1)};
}

}  // namespace tidemill::internal
