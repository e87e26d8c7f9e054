#include "tidemill/machine/internal/sensor_meter.hpp"

#include <deque>
#include <memory>

#include <doctest/doctest.h>

#include "tidemill/machine/platform_error.hpp"

using namespace tidemill;
using namespace tidemill::internal;
using doctest::Approx;

namespace {

/// A sensor that shows these values, one a reading.
EnergySensor shows(Measures measures, std::deque<double> values, double wraps_at_joules = 0) {
    const auto left = std::make_shared<std::deque<double>>(std::move(values));
    return {"sensor", measures,
            [left] {
                REQUIRE_FALSE(left->empty());
                const double value = left->front();
                left->pop_front();
                return value;
            },
            wraps_at_joules};
}

EnergyMeter::TimePoint at_s(double seconds) {
    return EnergyMeter::TimePoint(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

/// Joules after a start at 0 s and a sample at each of `times_s`.
double joules_of(EnergySensor sensor, std::initializer_list<double> times_s) {
    SensorMeter meter("made up", {std::move(sensor)});
    meter.start(at_s(0));
    for (const double time_s : times_s) meter.sample(at_s(time_s));
    return meter.domains()[0].joules;
}

}  // namespace

TEST_CASE("sensor meter: a counter's differences add up from where it stood at the start") {
    CHECK(joules_of(shows(Measures::kJoules, {1000, 1003, 1003, 1010.5}), {1, 2, 3}) == Approx(10.5));
}

TEST_CASE("sensor meter: a counter that starts over goes on counting") {
    CHECK(joules_of(shows(Measures::kJoules, {90, 98, 3, 40, 80, 10}, 100), {1, 2, 3, 4, 5}) == Approx(120));
}

TEST_CASE("sensor meter: a counter that was set back has lost what it counted") {
    CHECK_THROWS_AS(joules_of(shows(Measures::kJoules, {40, 0}, 100), {1}), PlatformError);
    CHECK_NOTHROW(joules_of(shows(Measures::kJoules, {60, 10}, 100), {1}));
    CHECK_THROWS_AS(joules_of(shows(Measures::kJoules, {60, 59}, 100), {1}), PlatformError);
    CHECK_THROWS_AS(joules_of(shows(Measures::kJoules, {60, 10}), {1}), PlatformError);
    CHECK_THROWS_AS(joules_of(shows(Measures::kJoules, {600, 10}, 100), {1}), PlatformError);
}

TEST_CASE("sensor meter: power is integrated over uneven intervals") {
    // 10 W for 2 s, a ramp from 10 W to 20 W of 1 s, 20 W for 0.5 s.
    CHECK(joules_of(shows(Measures::kWatts, {10, 10, 20, 20}), {2, 3, 3.5}) == Approx(20 + 15 + 10));
}

TEST_CASE("sensor meter: each start counts from 0 again") {
    SensorMeter meter("made up",
                      {shows(Measures::kJoules, {1, 5, 7, 8}), shows(Measures::kWatts, {2, 2, 4, 4})});
    meter.start(at_s(0));
    meter.sample(at_s(1));
    meter.start(at_s(10));
    meter.sample(at_s(11));
    CHECK(meter.domains()[0].joules == Approx(1));
    CHECK(meter.domains()[1].joules == Approx(4));
}
