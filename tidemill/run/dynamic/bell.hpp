#pragma once

#include <atomic>
#include <cstdint>

#include "tidemill/run/waiting.hpp"

namespace tidemill {

/// Wakes one thread. Rung before the thread waits, it does not wait.
class alignas(64) Bell {
  public:
    /// Until rung(), or for some milliseconds at most: for then, the caller looks for itself.
    void wait(WaitMode mode);

    void ring();

    /// Forgets that it was rung.
    void reset() { word_.store(kQuiet, std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t kQuiet = 0;
    static constexpr std::uint32_t kRung = 1;
    static constexpr std::uint32_t kAsleep = 2;

    bool rung() const { return word_.load(std::memory_order_acquire) == kRung; }

    std::atomic<std::uint32_t> word_{kQuiet};
};

}  // namespace tidemill
