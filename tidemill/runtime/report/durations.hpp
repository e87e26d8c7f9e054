#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

/// Durations of one task (or of waits, or latencies) in clock ticks; written by one thread.
///
/// Besides the sum and the extremes it counts durations in buckets that are exact below 32 ticks and a
/// sixteenth of their lower end wide above, up to 2^40 ticks (minutes). Adding costs about the same for all.
class Durations {
  public:
    void add(std::uint64_t ticks) {
        recent_[recent_count_++] = ticks;
        if (recent_count_ == recent_.size()) settle();
    }
    void add(const Durations& other);

    std::uint64_t count() const;
    std::uint64_t sum() const;
    std::uint64_t least() const;  ///< 0 when there are none
    std::uint64_t most() const;

    /// The duration that `share` (0 to 1) of all do not exceed, within 1/32 of itself; 0 when there are none.
    double quantile(double share) const;

  private:
    static constexpr int kFineBits = 4;  // buckets per octave: 16
    static constexpr std::uint64_t kFine = std::uint64_t{1} << kFineBits;
    static constexpr int kLargestBits = 40;
    static constexpr std::uint64_t kLargest = (std::uint64_t{1} << kLargestBits) - 1;

    // The top five bits of a number are its bucket.
    static constexpr std::size_t bucket_of(std::uint64_t ticks) {
        ticks = std::min(ticks, kLargest);
        const int shift = std::bit_width(ticks | kFine) - (kFineBits + 1);
        return (static_cast<std::size_t>(shift) << kFineBits) + static_cast<std::size_t>(ticks >> shift);
    }
    static double middle_of(std::size_t bucket);

    void settle();
    Durations settled() const;

    // Reading the clock waits for what was computed from its last value, so buckets are found for several at
    // a time; until then they take one cache line.
    alignas(64) std::array<std::uint64_t, 7> recent_{};
    std::uint64_t recent_count_ = 0;

    std::uint64_t sum_ = 0;
    std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most_ = 0;
    std::array<std::uint64_t, (kLargestBits - kFineBits + 1) * kFine> buckets_{};
};

/// Counts ticks as microseconds.
DurationReport report_of(const Durations& durations);

}  // namespace tidemill
