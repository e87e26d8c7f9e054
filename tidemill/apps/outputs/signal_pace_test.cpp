#include "tidemill/apps/outputs/signal_pace.hpp"

#include <algorithm>

#include <doctest/doctest.h>

namespace tidemill::cli {
namespace {

constexpr double kStep_s = 0.01;

// Sends until so much of the signal is out; each wait takes as long as it should, and returns the wall's
// time.
double send(SignalPace& pace, double& signal_s, double now_s, int times) {
    for (int i = 0; i < times; ++i, signal_s += kStep_s) now_s = std::max(now_s, pace.due(signal_s, now_s));
    return now_s;
}

}  // namespace

TEST_CASE("signal pace: what came evenly in the signal leaves evenly") {
    SignalPace pace;
    for (int i = 0; i < 1000; ++i)
        CHECK(pace.due(100 + kStep_s * i, 7 + kStep_s * i) == doctest::Approx(7 + kStep_s * i));
}

TEST_CASE("signal pace: a delay is made up slowly, and nothing leaves in a burst") {
    SignalPace pace;
    double signal_s = 0;
    double now_s = send(pace, signal_s, 0, 100) + 0.3;  // the machine was busy
    const double begun_s = now_s;
    int at_once = 0;
    for (int i = 0; i < 100; ++i, signal_s += kStep_s) {
        const double due_s = pace.due(signal_s, now_s);
        at_once += due_s <= now_s ? 1 : 0;
        now_s = std::max(now_s, due_s);
    }
    CHECK(at_once <= 2);
    CHECK(now_s - begun_s < 0.95);
    CHECK(now_s - begun_s > 0.85);
    now_s = send(pace, signal_s, now_s, 400);
    CHECK(now_s == doctest::Approx(signal_s - kStep_s).epsilon(0.01));
}

TEST_CASE("signal pace: a long pause, and a time that runs backwards, are left out") {
    SignalPace pace;
    double signal_s = 0;
    double now_s = send(pace, signal_s, 0, 10);
    for (const double jump_s : {600.0, -300.0}) {
        signal_s += jump_s;
        CHECK(pace.due(signal_s, now_s) == doctest::Approx(now_s));
        signal_s += kStep_s;
        now_s = pace.due(signal_s, now_s);
        signal_s += kStep_s;
    }
    CHECK(now_s == doctest::Approx(9 * kStep_s + 2 * kStep_s));
}

TEST_CASE("signal pace: of a live signal that comes faster than its clock says, a bounded part waits") {
    SignalPace pace(true);
    constexpr double kFrame_s = 0.03, kTimes = 5;  // samples come five times too fast
    double wall_s = 0, signal_s = 0, most_waiting_s = 0;
    while (signal_s < 60) {
        const double waiting_s = std::max(kTimes * wall_s - signal_s - kFrame_s, 0.0);
        most_waiting_s = std::max(most_waiting_s, waiting_s);
        wall_s = std::max(wall_s, signal_s / kTimes);
        wall_s = std::max(wall_s, pace.due(signal_s, wall_s, pace_of_live(waiting_s, kFrame_s)));
        signal_s += kFrame_s;
    }
    CHECK(most_waiting_s < 1);
    CHECK(wall_s == doctest::Approx(12).epsilon(0.02));
}

}  // namespace tidemill::cli
