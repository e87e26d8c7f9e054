#include "tidemill/apps/reception/page/work_times.hpp"

#include <doctest/doctest.h>

namespace tidemill::cli {
namespace {

LiveTimes seen_at(double elapsed_us, double read_us, double decode_us) {
    return {.elapsed_us = elapsed_us,
            .tasks = {{.name = "source.read", .calls = 1, .work_us = read_us},
                      {.name = "decoder.decode", .calls = 1, .work_us = decode_us}},
            .stages = {{.threads = 1, .work_us = read_us + decode_us}}};
}

}  // namespace

TEST_CASE("work times: what is waited for samples is waiting, and no time is ever below zero") {
    WorkTimes times("source.read");
    // 10 us of each call are work; the wait of the second lasts while one looks.
    times.step(seen_at(1000, 810, 100), 800, 800);
    CHECK(times.recent().tasks[0].work_us == 10);
    CHECK(times.recent().stages[0].work_us == 110);
    CHECK(times.recent().stages[0].pull_us == 800);
    times.step(seen_at(1500, 810, 110), 800, 1290);
    CHECK(times.recent().tasks[0].work_us == 0);
    CHECK(times.recent().tasks[1].work_us == 10);
    CHECK(times.recent().stages[0].pull_us == 490);
    // Its wait is over, its call is not.
    times.step(seen_at(1600, 810, 110), 1380, 1380);
    CHECK(times.recent().tasks[0].work_us == 0);
    times.step(seen_at(2000, 1400, 120), 1380, 1400);
    CHECK(times.recent().tasks[0].work_us == 10);
    CHECK(times.recent().stages[0].work_us == 20);
    CHECK(times.whole().tasks[0].work_us == 20);
    CHECK(times.whole().stages[0].work_us == 140);
    CHECK(times.whole().stages[0].pull_us == 1400);
}

TEST_CASE("work times: the whole is of the last schedule, and not of what a stream's end takes") {
    const auto stages = [](double elapsed_us, std::vector<LiveTimes::StageTime> of) {
        return LiveTimes{.elapsed_us = elapsed_us, .stages = std::move(of)};
    };
    WorkTimes times("source.read");
    times.step(stages(100, {{.threads = 1, .work_us = 50}, {.threads = 2, .work_us = 70}}), 0, 0);
    times.step(stages(200, {{.threads = 1, .work_us = 90}, {.threads = 2, .work_us = 100}}), 0, 0);
    CHECK(times.whole().stages[1].work_us == 100);
    times.step(stages(210, {{.threads = 0}, {.threads = 1, .work_us = 5}}), 0, 0);
    REQUIRE(times.whole().stages.size() == 2);
    CHECK(times.whole().stages[0].threads == 1);
    CHECK(times.whole().stages[0].work_us == 90);
    CHECK(times.whole().elapsed_us == 210);
    CHECK(times.whole_stages_us() == 200);
    times.step(stages(300, {{.threads = 3, .work_us = 20}}), 0, 0);
    times.step(stages(400, {{.threads = 3, .work_us = 60}}), 0, 0);
    REQUIRE(times.whole().stages.size() == 1);
    CHECK(times.whole().stages[0].work_us == 40);
    CHECK(times.whole_stages_us() == 100);
}

TEST_CASE("work times: before anything was called there is nothing to take from") {
    WorkTimes times("source.read");
    times.step({}, 500, 900);
    CHECK(times.recent().tasks.empty());
    times.step(seen_at(1000, 510, 0), 500, 900);
    CHECK(times.recent().tasks[0].work_us == 10);
}

}  // namespace tidemill::cli
