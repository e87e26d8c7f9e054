#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tidemill {

/// Durations of one task (or of waits) in clock ticks; written by one thread.
struct Durations {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most = 0;

    void add(std::uint64_t ticks) {
        ++count;
        sum += ticks;
        least = std::min(least, ticks);
        most = std::max(most, ticks);
    }
    void add(const Durations& other) {
        count += other.count;
        sum += other.sum;
        least = std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

}  // namespace tidemill
