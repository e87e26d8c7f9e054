#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "tidemill/machine/relax.hpp"

namespace tidemill {

/// Services of the machine for code that threads share: words, and ways to wait until they change.
///
/// Such code is a template over this type. What ships is compiled for RealThreads; the explorer compiles the
/// same code for threads of its own and goes through their interleavings (protocol/).
struct RealThreads {
    template <typename T>
    using Atomic = std::atomic<T>;
    /// Data that only the thread that has the turn or the lock may touch.
    template <typename T>
    using Plain = T;
    using Mutex = std::mutex;

    /// A plain word, while several threads touch it at once.
    template <typename T>
    static std::atomic_ref<T> shared(T& plain) {
        return std::atomic_ref<T>(plain);
    }

    static constexpr int kShortSpin = 50;  ///< some 1 to 3 us: less than falling asleep and being woken takes
    static constexpr int kLongSpin = 2000;  ///< some 30 to 70 us: more than a pair of futex calls costs
    static constexpr int kSpinBeforeYield = 200;

    static void relax() { tidemill::relax(); }

    /// Lets other threads have the core.
    static void yield_core();

    /// Sleeps while `word` holds `seen`; may return early.
    static void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen);

    /// The same, but for `at_most_ns` at most, which is less than a second.
    static void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen, long at_most_ns);

    /// Wakes all that sleep on `word`.
    static void wake_all(const std::atomic<std::uint32_t>& word);
};

}  // namespace tidemill
