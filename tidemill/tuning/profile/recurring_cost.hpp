#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemill/runtime/report/durations.hpp"

namespace tidemill {

/// Cost of some work per frame, in ticks.
struct CostPerFrame {
    double mean = 0;   ///< of what recurs, however rare
    double error = 0;  ///< standard error of that mean
    double once = 0;   ///< what happened once and is not in the mean, over all frames
    double p99 = 0;    ///< of single calls, all of them
};

/// Learns what some work costs per frame in the long run from its calls, in their order.
///
/// Calls that are far longer than the median (eight times) count in full if such calls came back: three of
/// about their size, spread over more than an eighth of the frames. Else they are a search, a first touch of
/// memory, a buffer that grew, and are replaced by the mean of the others. Calls that come back in equal
/// distances count by that distance, so it does not matter how many of them the frames happen to hold.
class RecurringCost {
  public:
    /// A call on a frame; frames are counted from 0 and never go back.
    void add(std::uint64_t frame, std::uint64_t ticks);

    /// Over that many frames, at least 1.
    CostPerFrame per_frame(std::uint64_t frames) const;

    std::uint64_t calls() const { return calls_.count(); }

  private:
    struct Call {
        std::uint64_t frame;
        std::uint64_t ticks;
    };
    using Calls = std::vector<Call>;

    void keep_if_long(const Call& call);
    void widen();
    Calls far_longer_than_usual() const;
    double standard_error(std::uint64_t frames, const Calls& once, double usual) const;

    static constexpr std::size_t kMostLong = 256;
    static constexpr std::size_t kMostParts = 64;

    Durations calls_;
    Calls longest_;                // a heap, the shortest of them in front
    std::vector<double> parts_{};  // ticks of so many frames each:
    std::uint64_t part_frames_ = 1;
};

}  // namespace tidemill
