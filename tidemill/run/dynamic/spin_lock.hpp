#pragma once

#include <atomic>

#include "tidemill/run/waiting.hpp"

namespace tidemill {

/// A lock for some hundred instructions at a time: waits without sleeping, and lets others have the core when
/// whoever holds it seems to have lost its own.
class SpinLock {
  public:
    void lock() {
        constexpr int kSpinBeforeYield = 200;
        // pairs with the store in unlock()
        while (held_.exchange(true, std::memory_order_acquire)) {
            for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
                i < kSpinBeforeYield ? RealThreads::relax() : RealThreads::yield_core();
            }
        }
    }
    void unlock() { held_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> held_{false};
};

}  // namespace tidemill
