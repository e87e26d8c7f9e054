#include "tidemill/tuning/choose/forecast.hpp"

#include <doctest/doctest.h>

namespace tidemill {

TEST_CASE("forecast: the less sure the weights, the wider the interval around the period") {
    Profile profile;
    profile.kinds = {"big"};
    profile.tasks = {{"a.a", false, {100}}, {"b.b", false, {50}}};
    const Schedule schedule{.stages = {{0, 1, 1, "big"}, {1, 1, 1, "big"}}};
    const Forecast sure = forecast(schedule, profile, {});
    CHECK(sure.period_us == 100);
    CHECK(sure.least_us < 100);
    CHECK(sure.most_us > 100);
    profile.tasks[0].spread = {{.error_us = 10}};
    const Forecast unsure = forecast(schedule, profile, {});
    CHECK(unsure.period_us == 100);
    CHECK(unsure.least_us == doctest::Approx(0.8 * sure.least_us));
    CHECK(unsure.most_us == doctest::Approx(1.2 * sure.most_us));
    CHECK(in_words({226, 205, 240}, 231) == "predicted 226.00 (205.00 to 240.00), real 231.00");
}

}  // namespace tidemill
