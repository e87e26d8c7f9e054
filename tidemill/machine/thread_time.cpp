#include "tidemill/machine/thread_time.hpp"

#include <algorithm>
#include <ctime>

#include <sys/resource.h>

namespace tidemill {

namespace {

std::int64_t ns_of(clockid_t clock) noexcept {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t thread_run_ns() noexcept {
    return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

ThreadTime thread_time() noexcept {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {ns_of(CLOCK_MONOTONIC) - thread_run_ns(), static_cast<std::uint64_t>(usage.ru_nivcsw),
            static_cast<std::uint64_t>(usage.ru_nvcsw)};
}

std::int64_t preempted_ns(const ThreadTime& before, const ThreadTime& now) noexcept {
    if (now.preemptions == before.preemptions || now.waits != before.waits) return 0;
    return std::max<std::int64_t>(0, now.off_core_ns - before.off_core_ns);
}

}  // namespace tidemill
