#include "tidemill/runtime/threads/real_threads.hpp"

#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tidemill {

// std::atomic::wait parks on a shared proxy word and spins first; the token's own word is cheaper.
void RealThreads::sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void RealThreads::sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen, long at_most_ns) {
    const timespec at_most{0, at_most_ns};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &at_most, nullptr, 0);
}

void RealThreads::wake_all(const std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void RealThreads::yield_core() {
    sched_yield();
}

}  // namespace tidemill
