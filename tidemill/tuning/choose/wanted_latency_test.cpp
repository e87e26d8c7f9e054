#include "tidemill/tuning/choose/wanted_latency.hpp"

#include <doctest/doctest.h>

namespace tidemill::internal {
namespace {

Profile three_tasks() {
    Profile profile;
    profile.kinds = {"big"};
    profile.cores = Platform{.big = 2};
    profile.tasks = {{"a", false, {30}}, {"b", false, {50}}, {"c", false, {20}}};
    return profile;
}

RunConfig within(double latency_us) {
    RunConfig how{.latency_us = latency_us};
    how.scheduling.cores = Platform{.big = 2};
    return how;
}

}  // namespace

TEST_CASE("a wanted latency makes the schedule, and lets as many frames be in flight as it allows") {
    std::vector<std::string> warnings;
    const RunConfig how = within(300);
    std::optional<Schedule> schedule = schedule_within_latency(three_tasks(), how, warnings);
    REQUIRE(schedule);
    CHECK(schedule->frames_in_flight == 2);  // as its period of 70 us needs
    limit_in_flight(*schedule, three_tasks(), how, warnings);
    CHECK(schedule->frames_in_flight == 4);
    CHECK(*schedule->period_us == 70);
    CHECK(warnings.empty());
}

TEST_CASE("a latency that nothing meets is told with the least there is, and one frame is in flight") {
    std::vector<std::string> warnings;
    const RunConfig how = within(40);
    std::optional<Schedule> schedule = schedule_within_latency(three_tasks(), how, warnings);
    REQUIRE(schedule);
    limit_in_flight(*schedule, three_tasks(), how, warnings);
    CHECK(schedule->frames_in_flight == 1);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] == "the least latency of this schedule is 100.00 us");
}

TEST_CASE("who names another strategy or a rate gets its schedule, with frames in flight for the latency") {
    std::vector<std::string> warnings;
    RunConfig how = within(300);
    how.scheduling.strategy = &strategy("packed");
    CHECK_FALSE(schedule_within_latency(three_tasks(), how, warnings));
    Schedule packed = schedule(three_tasks(), how.scheduling);
    limit_in_flight(packed, three_tasks(), how, warnings);
    CHECK(packed.frames_in_flight == 6);
    how = within(300);
    how.scheduling.objective.wanted_period_us = 90;
    CHECK_FALSE(schedule_within_latency(three_tasks(), how, warnings));
    how.latency_us.reset();
    packed.frames_in_flight.reset();
    limit_in_flight(packed, three_tasks(), how, warnings);
    CHECK_FALSE(packed.frames_in_flight);
    CHECK(warnings.empty());
}

TEST_CASE("cores that slow each other down are told, and the strategy's schedule is taken") {
    std::vector<std::string> warnings;
    RunConfig how = within(300);
    how.scheduling.model = {.kinds = {{.kind = "big", .slowdown = {1, 1.2}}}};
    CHECK_FALSE(schedule_within_latency(three_tasks(), how, warnings));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("slow down as more are busy") != std::string::npos);
}

}  // namespace tidemill::internal
