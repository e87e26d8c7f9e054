#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/model/sim_report.hpp"

namespace tidemill::internal {

/// When the frames of a simulated run left, and how long each was in the pipeline. Called as time goes on.
class FrameTimes {
  public:
    /// Frame k + tokens begins when frame k has left. Frames come in groups of so many: the second half of
    /// the run is counted, in whole groups where it is longer than one.
    FrameTimes(std::uint64_t frames, std::uint64_t tokens, std::uint64_t group);

    void begin(std::uint64_t frame, double now_us) { begun_us_[frame % begun_us_.size()] = now_us; }
    void end(std::uint64_t frame, double now_us);

    /// Between frames that are counted, once all have left.
    double period_us() const;

    /// Once all have left. An interruption point.
    SimLatency latency();

  private:
    std::uint64_t counted_;
    std::uint64_t uncounted_;
    double left_us_ = 0;  // all so far: a thread that has less to do than others may be ahead of them
    double uncounted_left_us_ = 0;  // those in front of the counted ones
    std::vector<double> begun_us_;  // by the frame's token
    std::vector<double> latencies_us_;
};

}  // namespace tidemill::internal
