#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tidemill {

/// How a thread waits for its turn at a token.
enum class WaitMode : std::uint8_t {
    passive,  ///< looks for a microsecond or two, then sleeps in the kernel
    active,   ///< spins, and yields the core when others may need it
    mixed,    ///< spins for some tens of microseconds, then sleeps
};

namespace internal {

/// Tells the processor that this is a spin.
inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Sleeps while `word` holds `seen`; may return early.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen);

/// The same, but for `at_most_ns` at most, which is less than a second.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen, long at_most_ns);

/// Wakes all that sleep on `word`.
void wake_all(const std::atomic<std::uint32_t>& word);

/// Lets other threads have the core.
void yield_core();

}  // namespace internal

}  // namespace tidemill
