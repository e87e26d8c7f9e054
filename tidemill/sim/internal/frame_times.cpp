#include "tidemill/sim/internal/frame_times.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tidemill::internal {

double FrameTimes::full_period_us(std::uint64_t group) const {
    if (frames() < 2) return all_left_us(frames());
    const std::uint64_t half = frames() / 2;
    const std::uint64_t counted = group <= half ? half / group * group : half;
    return (all_left_us(frames()) - all_left_us(frames() - counted)) / static_cast<double>(counted);
}

// When so many frames had left: a thread that has less to do than others may be ahead of them.
double FrameTimes::all_left_us(std::uint64_t frames) const {
    return *std::max_element(left_us_.begin(), left_us_.begin() + static_cast<std::ptrdiff_t>(frames));
}

SimLatency FrameTimes::latency() const {
    std::vector<double> latencies(frames());
    std::ranges::transform(left_us_, begun_us_, latencies.begin(), std::minus<>{});
    std::ranges::sort(latencies);
    const auto at = [&](double share) {
        return latencies[static_cast<std::size_t>(std::lround(share * static_cast<double>(frames() - 1)))];
    };
    const double sum = std::accumulate(latencies.begin(), latencies.end(), 0.0);
    return {sum / static_cast<double>(frames()), at(0), at(0.5), at(0.95), at(0.99), at(1)};
}

}  // namespace tidemill::internal
