#pragma once

#include <cstdint>
#include <limits>

namespace tidemill::policy {

/// What a task is an instance of: small and dense.
using TaskTypeId = std::uint32_t;

/// A thread that runs tasks, from 0 on.
using WorkerId = std::uint32_t;

/// A kind of core, from 0 to 31.
using KindId = std::uint32_t;

/// Kinds of cores: bit k stands for kind k.
using KindSet = std::uint32_t;
inline constexpr KindSet kAnyKind = ~KindSet{0};

/// How much of a program may be in flight. An iteration is in flight from its first task's creation until all
/// of its tasks, and those of all iterations before it, have completed.
///
/// In iterations, it bounds how far task types run apart. In tasks it does not: one task that waits lets all
/// others run ahead. In bytes, it is a promise about memory.
struct Window {
    static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t iterations = kUnlimited;
    std::uint64_t tasks = kUnlimited;
    std::uint64_t bytes = kUnlimited;
};

/// When and how much the adaptive policies adapt.
struct Adapting {
    std::uint64_t interval_ns = 100'000'000;          ///< between looks at the statistics
    std::uint64_t starved_interval_ns = 500'000'000;  ///< after a look that found the master too slow
    std::int64_t first_delta = 8;                     ///< of gpriority, in tasks
};

}  // namespace tidemill::policy
