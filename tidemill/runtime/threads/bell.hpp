#pragma once

#include <atomic>
#include <cstdint>

#include "tidemill/base/thread_habits.hpp"

namespace tidemill {

/// Wakes one thread. Rung before the thread waits, it does not wait.
template <class Threads>
class alignas(64) Bell {
  public:
    /// Until rung(), or asleep for so long: then the caller looks for itself.
    template <typename... AtMost>
    void wait(WaitMode mode, AtMost... longest_sleep_ns) {
        if (rings_within(mode)) return;
        std::uint32_t quiet = kQuiet;
        if (mode == WaitMode::active ||
            !word_.compare_exchange_strong(quiet, kAsleep, std::memory_order_acquire))
            return;
        Threads::sleep_while(word_, kAsleep, longest_sleep_ns...);
    }

    void ring() {
        // pairs with the load in rung(); the sleeper's own exchange sees it, or is seen
        if (word_.exchange(kRung, std::memory_order_acq_rel) == kAsleep) Threads::wake_all(word_);
    }

    /// Forgets that it was rung, and sees what was done before: for the thread that is about to look whether
    /// there is work, and waits where there is none.
    void silence() {
        // a store alone might come behind the looks, and hide the ring that they were too early for
        word_.exchange(kQuiet, std::memory_order_acq_rel);
    }

    /// Forgets that it was rung.
    void reset() { word_.store(kQuiet, std::memory_order_relaxed); }

  private:
    static constexpr std::uint32_t kQuiet = 0;
    static constexpr std::uint32_t kRung = 1;
    static constexpr std::uint32_t kAsleep = 2;

    bool rung() const { return word_.load(std::memory_order_acquire) == kRung; }

    // Before it is worth sleeping.
    bool rings_within(WaitMode mode) const {
        constexpr int kYields = 100;
        for (int i = 0; i < (mode == WaitMode::mixed ? Threads::kLongSpin : Threads::kShortSpin); ++i) {
            if (rung()) return true;
            Threads::relax();
        }
        for (int i = 0; mode == WaitMode::active && i < kYields; ++i) {
            if (rung()) return true;
            Threads::yield_core();
        }
        return false;
    }

    typename Threads::template Atomic<std::uint32_t> word_{kQuiet};
};

}  // namespace tidemill
