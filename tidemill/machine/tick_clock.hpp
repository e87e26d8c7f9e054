#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace tidemill {
namespace internal {

/// Whether this processor's time-stamp counter runs at one rate for ever and on all cores alike.
bool has_steady_tsc() noexcept;

inline const bool kTicksAreTsc = has_steady_tsc();

}  // namespace internal

/// A time stamp of ten nanoseconds or less: the time-stamp counter where it is steady, else steady_clock.
///
/// Not a fence: work around it may move by some tens of instructions.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    if (internal::kTicksAreTsc) [[likely]]
        return __rdtsc();
#endif
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Nanoseconds per tick, measured once against steady_clock; the first call may take up to 10 ms.
double ns_per_tick() noexcept;

/// The nanoseconds that a difference of two time stamps stands for.
inline double to_ns(std::uint64_t elapsed_ticks) noexcept {
    return static_cast<double>(elapsed_ticks) * ns_per_tick();
}

}  // namespace tidemill
