#include "tidemill/lab/programs/synthetic_work.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

#include <sys/prctl.h>

namespace tidemill {

namespace {

// The same on every machine and in every run, so that results can be compared; a turn of multiplication and
// shift takes about 1.5 ns.
constexpr double kTurnsPerUs = 650;

void sleep_us(double time_us) {
    timespec left{static_cast<time_t>(time_us / 1e6), std::lround(std::fmod(time_us, 1e6) * 1e3)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

std::uint64_t compute(std::uint64_t turns, std::uint64_t value) {
    for (std::uint64_t i = 0; i < turns; ++i) value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9ull;
    return value;
}

}  // namespace

std::uint64_t pass_time(Pastime pastime, double time_us, std::uint64_t value) {
    if (pastime == Pastime::computing) return compute(std::llround(time_us * kTurnsPerUs), value);
    if (pastime == Pastime::waiting && time_us > 0) sleep_us(time_us);
    return value;
}

double computed_us() {
    constexpr double kTriedUs = 1000;
    constexpr int kTries = 20;
    using Clock = std::chrono::steady_clock;
    double least_us = std::numeric_limits<double>::infinity();
    volatile std::uint64_t value = 1;
    for (int i = 0; i < kTries; ++i) {
        const Clock::time_point start = Clock::now();
        value = pass_time(Pastime::computing, kTriedUs, value);
        const std::chrono::duration<double, std::micro> took = Clock::now() - start;
        least_us = std::min(least_us, took.count());
    }
    return least_us / kTriedUs;
}

ExactSleep::ExactSleep() : before_(prctl(PR_GET_TIMERSLACK)) {
    prctl(PR_SET_TIMERSLACK, 1UL);
}

ExactSleep::~ExactSleep() {
    prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
}

}  // namespace tidemill
