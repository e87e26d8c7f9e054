#include "tidemill/machine/tick_clock.hpp"

#include <thread>

#include <doctest/doctest.h>

using namespace tidemill;

TEST_CASE("tick clock: time never runs backwards within a thread") {
    std::uint64_t last = ticks();
    int backwards = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t now = ticks();
        backwards += now < last;
        last = now;
    }
    CHECK(backwards == 0);
}

TEST_CASE("tick clock: a stamp taken after a hand-over to another thread is not earlier") {
    int backwards = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t before = ticks();
        std::uint64_t there = 0;
        std::thread([&] { there = ticks(); }).join();
        backwards += there < before || ticks() < there;
    }
    CHECK(backwards == 0);
}

TEST_CASE("tick clock: its nanoseconds bracket and are bracketed by those of steady_clock") {
    using Clock = std::chrono::steady_clock;
    using Nanoseconds = std::chrono::duration<double, std::nano>;
    ns_per_tick();  // calibrated before the measurement
    const auto outer_start = Clock::now();
    const std::uint64_t start = ticks();
    const auto inner_start = Clock::now();
    auto inner_end = inner_start;
    while (inner_end - inner_start < std::chrono::milliseconds(20)) inner_end = Clock::now();
    const double measured_ns = to_ns(ticks() - start);
    const auto outer_end = Clock::now();
    // Half a thousandth of slack: two clocks that are disciplined differently.
    CHECK(measured_ns >= Nanoseconds(inner_end - inner_start).count() * 0.9995);
    CHECK(measured_ns <= Nanoseconds(outer_end - outer_start).count() * 1.0005);
}

TEST_CASE("tick clock: nothing elapsed is no time, and a tick has one length") {
    CHECK(to_ns(0) == 0.0);
    CHECK(ns_per_tick() > 0.0);
    CHECK(ns_per_tick() == ns_per_tick());
    CHECK(to_ns(2'000'000) == doctest::Approx(2 * to_ns(1'000'000)));
}
