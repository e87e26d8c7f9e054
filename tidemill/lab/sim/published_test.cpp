#include "tidemill/lab/sim/published.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/lab/sim/sim_error.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

TEST_CASE("the program carries all published tables") {
    CHECK(published_table("table1").size() == 45);
    CHECK(published_table("table3").size() == 40);
    CHECK(published_table("pinning").size() == 160);
    CHECK(published_table("thread_per_task").size() == 19);
    CHECK(published_table("os_schedulers").size() == 21);
    CHECK_THROWS_AS(published_table("table9"), SimError);
    CHECK_THROWS_AS(published_table("table1")[0].text("nothing"), SimError);
    CHECK_FALSE(published_table("pinning")[2].known("socket_w"));
}

TEST_CASE("published stages read as schedules") {
    const Schedule schedule = published_schedule("5B1 8B1 4L3 6B12");
    REQUIRE(schedule.stages.size() == 4);
    CHECK(schedule.task_count() == 23);
    CHECK(schedule.stages[2].first_task == 13);
    CHECK(schedule.stages[2].core_kind == "little");
    CHECK(schedule.stages[3].threads == 12);
    for (const char* wrong : {"", "5", "B1", "5B", "5B0", "5X1", "5B1 ", "-5B1"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(published_schedule(wrong), ScheduleError);
    }
}

TEST_CASE("all published solutions have the published period and throughput, by formula and by simulation") {
    for (const PublishedRow& row : published_table("table3")) {
        CAPTURE(row.text("solution"));
        const Profile profile = published_profile(row.text("platform"));
        const Schedule published = published_schedule(row.text("stages"));
        const double formula_us = period_us(published, profile);
        CHECK(formula_us == doctest::Approx(row.number("period_us")).epsilon(1e-5));
        CHECK(std::abs(mbps(profile, formula_us) - row.number("simulated_mbps")) < 0.00501);
        CHECK(simulate(model_of(published, profile), 1000).period_us == doctest::Approx(formula_us));
    }
}

TEST_CASE("our strategies are as fast as published on every DVB-S2 platform") {
    for (const PublishedRow& row : published_table("table3")) {
        CAPTURE(row.text("solution"));
        const Profile profile = published_profile(row.text("platform"));
        const Platform cores{.big = row.count("big"), .little = row.count("little")};
        const Schedule ours = strategy(row.text("strategy")).schedule(profile, cores);
        CHECK(period_us(ours, profile) == doctest::Approx(row.number("period_us")).epsilon(1e-5));
    }
}

}  // namespace tidemill
