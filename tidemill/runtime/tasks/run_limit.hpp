#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace tidemill {

/// From which task on, in the order of spawning, none runs any more; set by any thread.
class RunLimit {
  public:
    bool reached(std::uint64_t number) const { return number >= limit_.load(std::memory_order_relaxed); }
    bool is_set() const { return limit_.load(std::memory_order_relaxed) != kNever; }

    /// Nothing from there on runs; what has begun goes on.
    void drop_from(std::uint64_t number) {
        std::uint64_t seen = limit_.load(std::memory_order_relaxed);
        while (number < seen && !limit_.compare_exchange_weak(seen, number, std::memory_order_relaxed)) {
        }
    }
    void lift() { limit_.store(kNever, std::memory_order_relaxed); }

  private:
    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

    std::atomic<std::uint64_t> limit_{kNever};
};

}  // namespace tidemill
