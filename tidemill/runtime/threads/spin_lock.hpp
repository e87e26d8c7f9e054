#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "tidemill/runtime/threads/real_threads.hpp"

namespace tidemill {

/// A lock for some hundred instructions at a time: waits without sleeping, and lets others have the core when
/// the holder seems to have lost its own.
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

/// A lock for as short a time between threads of any priority: a thread that waits long sleeps for a while,
/// so that the holder has a core.
class BriefLock {
  public:
    void lock() {
        // pairs with the store in unlock()
        while (held_.exchange(true, std::memory_order_acquire)) {
            for (int i = 0; held_.load(std::memory_order_relaxed); ++i) {
                i < RealThreads::kLongSpin ? RealThreads::relax() : lie_down();
            }
        }
    }
    void unlock() { held_.store(false, std::memory_order_release); }

  private:
    static void lie_down() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

    std::atomic<bool> held_{false};
};

}  // namespace tidemill
