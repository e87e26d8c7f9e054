#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/sim/sim_report.hpp"

namespace tidemill::internal {

/// When each frame of a simulated run began and when it had left.
class FrameTimes {
  public:
    explicit FrameTimes(std::uint64_t frames) : begun_us_(frames), left_us_(frames) {}

    std::uint64_t frames() const { return begun_us_.size(); }
    void begin(std::uint64_t frame, double now_us) { begun_us_[frame] = now_us; }
    void end(std::uint64_t frame, double now_us) { left_us_[frame] = now_us; }

    /// Between frames in the second half, where it is longer than a group of so many: they come in groups, so
    /// whole groups are counted.
    double full_period_us(std::uint64_t group) const;

    SimLatency latency() const;

  private:
    double all_left_us(std::uint64_t frames) const;

    std::vector<double> begun_us_;
    std::vector<double> left_us_;
};

}  // namespace tidemill::internal
