#pragma once

#include <mutex>

#include "tidemill/run/real_threads.hpp"

namespace tidemill {

/// A lock for some hundred instructions at a time: waits without sleeping, and lets others have the core when
/// whoever holds it seems to have lost its own.
template <class Threads>
class BasicSpinLock {
  public:
    void lock() {
        // pairs with the store in unlock()
        while (held_.exchange(true, std::memory_order_acquire)) {
            for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
                i < Threads::kSpinBeforeYield ? Threads::relax() : Threads::yield_core();
            }
        }
    }
    void unlock() { held_.store(false, std::memory_order_release); }

  private:
    typename Threads::template Atomic<bool> held_{false};
};

using SpinLock = BasicSpinLock<RealThreads>;

/// A mutex that is held for some hundred instructions at a time: waits awake at first, for to be woken costs
/// more than that, and then asleep, so that whoever holds it may have any priority.
class BriefMutex {
  public:
    void lock() {
        for (int i = 0; i < RealThreads::kLongSpin; ++i) {
            if (mutex_.try_lock()) return;
            RealThreads::relax();
        }
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }

  private:
    std::mutex mutex_;
};

}  // namespace tidemill
