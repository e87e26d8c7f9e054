#include "tidemill/machine/tick_clock.hpp"

#include <fstream>
#include <limits>
#include <ratio>
#include <string>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace tidemill {
namespace {

using Clock = std::chrono::steady_clock;

bool processor_promises_steady_tsc() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kPowerManagement = 0x80000007;  // Intel SDM vol. 2A, CPUID: EDX bit 8, invariant TSC
    return __get_cpuid(kPowerManagement, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 8 & 1U) != 0;
#else
    return false;
#endif
}

// The kernel watches the counter and stops offering it when cores disagree.
bool kernel_trusts_tsc() {
    std::ifstream in("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    std::string source;
    bool readable = false;
    while (in >> source) {
        if (source == "tsc") return true;
        readable = true;
    }
    return !readable;
}

struct Instant {
    std::uint64_t ticks;
    Clock::time_point time;
};

// Both clocks at one moment: the tightest of several readings, so that an interruption does no harm.
Instant read_both() noexcept {
    Instant best{};
    std::uint64_t tightest = std::numeric_limits<std::uint64_t>::max();
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::uint64_t before = ticks();
        const Clock::time_point time = Clock::now();
        const std::uint64_t width = ticks() - before;
        if (width >= tightest) continue;
        tightest = width;
        best = {before + width / 2, time};
    }
    return best;
}

const Instant& start() noexcept {
    static const Instant first = read_both();
    return first;
}

// Taken when the program starts, so that the first conversion seldom has to wait.
[[maybe_unused]] const Instant& program_start = start();

double calibrate() noexcept {
    if (!internal::kTicksAreTsc) return 1e9 * Clock::period::num / Clock::period::den;
    using Nanoseconds = std::chrono::duration<double, std::nano>;
    // Both readings are good to about 50 ns: ten parts in a million of 10 ms.
    constexpr auto kLongEnough = std::chrono::milliseconds(10);
    Instant now = read_both();
    while (now.time - start().time < kLongEnough) now = read_both();
    return Nanoseconds(now.time - start().time).count() / static_cast<double>(now.ticks - start().ticks);
}

}  // namespace

namespace internal {

bool has_steady_tsc() noexcept {
    try {
        return processor_promises_steady_tsc() && kernel_trusts_tsc();
    } catch (...) {  // no memory to read the kernel's list: the slower clock is always right
        return false;
    }
}

}  // namespace internal

double ns_per_tick() noexcept {
    static const double measured = calibrate();
    return measured;
}

}  // namespace tidemill
