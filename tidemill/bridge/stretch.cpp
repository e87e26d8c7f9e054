#include "tidemill/bridge/stretch.hpp"

#include <ctime>
#include <thread>

namespace tidemill::bridge {

std::int64_t Stretch::cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void Stretch::pass(double ns) {
    owed_ns_ += ns;
    const auto least = by_ == By::spinning ? kLong : kGrain;
    if (owed_ns_ >= static_cast<double>(least.count())) {
        sleep();
    } else if (by_ == By::spinning) {
        spin();
    }
}

void Stretch::spin() {
    const std::int64_t start = cpu_ns();
    std::int64_t spent = 0;
    while (static_cast<double>(spent) < owed_ns_) spent = cpu_ns() - start;
    owed_ns_ -= static_cast<double>(spent);
}

// A timer is late; what that is too much is owed less next time.
void Stretch::sleep() {
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(owed_ns_)));
    owed_ns_ -=
        static_cast<double>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
}

}  // namespace tidemill::bridge
