#pragma once

#include <cstdint>

namespace tidemill {

/// How the system has treated the calling thread so far.
struct ThreadTime {
    std::int64_t off_core_ns =
        0;  ///< time in which it did not run, whatever for; only differences mean anything
    std::uint64_t preemptions = 0;  ///< times that another thread was given its core
    std::uint64_t waits = 0;        ///< times that it gave its core away itself, to wait
};

/// Asks the system, in about a microsecond.
ThreadTime thread_time() noexcept;

/// How long the calling thread has run so far, in nanoseconds.
std::int64_t thread_run_ns() noexcept;

/// How long the calling thread was kept from its core by others since `before`; 0 where it also waited for
/// something itself, because nobody knows then which time was which.
std::int64_t preempted_ns(const ThreadTime& before, const ThreadTime& now) noexcept;

}  // namespace tidemill
