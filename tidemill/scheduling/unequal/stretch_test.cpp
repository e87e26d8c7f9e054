#include "tidemill/scheduling/unequal/stretch.hpp"

#include <algorithm>
#include <ctime>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/machine/tick_clock.hpp"

namespace tidemill::bridge {
namespace {

double cpu_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Busy for so much processor time.
int work(double ms) {
    const double end = cpu_ms() + ms;
    while (cpu_ms() < end) {
    }
    return 7;
}

double wall_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

}  // namespace

TEST_CASE("stretch: a short call takes the wanted multiple of its processor time") {
    Stretch stretch({1, 4}, Stretch::By::spinning);
    const double wall_before = wall_ms();
    const double cpu_before = cpu_ms();
    CHECK(stretch.call(1, [] { return work(0.1); }) == 7);
    CHECK(wall_ms() - wall_before >= 4 * 0.1 - 0.01);
    CHECK(cpu_ms() - cpu_before < 2 * 4 * 0.1);  // an emulator's own work is in it
}

TEST_CASE("stretch: calls of some microseconds keep their ratio, as no look at processor time is in it") {
    constexpr int kCalls = 200;
    const auto task = [] {
        const std::uint64_t end = ticks() + static_cast<std::uint64_t>(5000 / ns_per_tick());
        while (ticks() < end) {
        }
        return 0;
    };
    Stretch stretch({3}, Stretch::By::spinning);
    std::vector<double> took_us;
    for (int i = 0; i < kCalls; ++i) {
        const std::uint64_t start = ticks();
        stretch.call(0, task);
        took_us.push_back(to_ns(ticks() - start) / 1e3);
    }
    std::ranges::nth_element(took_us, took_us.begin() + kCalls / 2);
    CHECK(took_us[kCalls / 2] >= 3 * 5 - 0.1);
    CHECK(took_us[kCalls / 2] < 3 * 5 * 1.5);  // an emulator's own work is in it
}

TEST_CASE("stretch: a long call sleeps for the rest, so that another thread may have the core") {
    Stretch stretch({3}, Stretch::By::spinning);
    const double cpu_before = cpu_ms();
    const double wall_before = wall_ms();
    stretch.call(0, [] { return work(2); });
    CHECK(cpu_ms() - cpu_before < 3);
    CHECK(wall_ms() - wall_before >= 3 * 2 - 0.1);
}

TEST_CASE("stretch: by sleeping only, short calls are stretched together, a grain at a time") {
    Stretch stretch({3}, Stretch::By::sleeping);
    const double cpu_before = cpu_ms();
    const double wall_before = wall_ms();
    for (int i = 0; i < 100; ++i) stretch.call(0, [] { return work(0.05); });
    CHECK(cpu_ms() - cpu_before < 2 * 5);
    CHECK(wall_ms() - wall_before >= 3 * 5 - 0.3);
}

}  // namespace tidemill::bridge
