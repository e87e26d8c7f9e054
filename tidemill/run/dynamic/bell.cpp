#include "tidemill/run/dynamic/bell.hpp"

namespace tidemill {

void Bell::wait(WaitMode mode) {
    constexpr int kShortSpin = 50;   // a microsecond or two
    constexpr int kLongSpin = 2000;  // some 30 to 70 us: more than a pair of futex calls costs
    constexpr int kYields = 100;
    constexpr long kLongestSleepNs = 5'000'000;
    for (int i = 0; i < (mode == WaitMode::mixed ? kLongSpin : kShortSpin); ++i) {
        if (rung()) return;
        RealThreads::relax();
    }
    for (int i = 0; mode == WaitMode::active && i < kYields; ++i) {
        if (rung()) return;
        RealThreads::yield_core();
    }
    std::uint32_t quiet = kQuiet;
    if (mode == WaitMode::active || !word_.compare_exchange_strong(quiet, kAsleep, std::memory_order_acquire))
        return;
    RealThreads::sleep_while(word_, kAsleep, kLongestSleepNs);
}

void Bell::ring() {
    // pairs with the load in rung(); the sleeper's own exchange sees it, or is seen
    if (word_.exchange(kRung, std::memory_order_acq_rel) == kAsleep) RealThreads::wake_all(word_);
}

}  // namespace tidemill
