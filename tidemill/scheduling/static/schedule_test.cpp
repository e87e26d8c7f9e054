#include "tidemill/scheduling/static/schedule.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/bound.hpp"

namespace tidemill {
namespace {

Chain receiver() {
    return {{"big", "little"},
            {{"radio", false, {10, 20}},
             {"demodulate", true, {40, 100}},
             {"decode", true, {80, 200}},
             {"sink", false, {5, 10}}}};
}

Schedule three_stages() {
    Schedule schedule;
    schedule.stages = {{.first_task = 0, .task_count = 1, .threads = 1, .core_kind = "little"},
                       {.first_task = 1, .task_count = 2, .threads = 3, .core_kind = "big"},
                       {.first_task = 3, .task_count = 1, .threads = 1, .core_kind = "little"}};
    schedule.task_names = {"radio", "demodulate", "decode", "sink"};
    return schedule;
}

Schedule broken(void (*change)(Schedule&)) {
    Schedule schedule = three_stages();
    change(schedule);
    return schedule;
}

}  // namespace

TEST_CASE("a stage's threads share its weight only if all its tasks are replicable") {
    const Chain chain = receiver();
    CHECK(stage_weight_us(three_stages().stages[1], chain) == 40);
    CHECK(stage_weight_us({.first_task = 0, .task_count = 2, .threads = 1, .core_kind = "big"}, chain) == 50);
    CHECK(stage_weight_us({.first_task = 0, .task_count = 2, .threads = 4, .core_kind = "big"}, chain) == 50);
    CHECK(period_us(three_stages(), chain) == 40);
    CHECK(cores_used(three_stages()) == std::vector<CoreCount>{{"little", 2}, {"big", 3}});
}

TEST_CASE("the rate counts the frames that one execution carries") {
    Profile profile;
    profile.kinds = receiver().kinds;
    profile.tasks = receiver().tasks;
    profile.frames_per_execution = 8;
    CHECK(frames_per_second(three_stages(), profile) == 200000);
}

TEST_CASE("a schedule for another chain is refused with what was expected") {
    const Chain chain = receiver();
    CHECK_NOTHROW(check(three_stages(), chain));
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.stages.pop_back(); }), chain),
                      "schedule: its stages have 3 tasks, expected 4 (the chain's length)");
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.stages[2].task_count = 2; }), chain),
                      "schedule: stages 1 to 3 have more tasks than the chain, which has 4");
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.stages[1].task_count = std::size_t(-1); }), chain),
                      "schedule: stages 1 to 2 have more tasks than the chain, which has 4");
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.stages[1].first_task = 2; }), chain),
                      "schedule: stage 2 begins at task 3, expected 2");
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.task_names[2] = "encode"; }), chain),
                      "schedule: task 3 is named 'encode', expected 'decode': it was made for another chain");
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.stages[0].core_kind = "gpu"; }), chain),
                      "the chain has no weights for core kind 'gpu', only for: big, little");
    CHECK_THROWS_AS(check(broken([](Schedule& s) { s.stages.clear(); }), chain), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Schedule& s) { s.stages[0].task_count = 0; }), chain), ScheduleError);
    CHECK_NOTHROW(check(broken([](Schedule& s) { s.task_names.clear(); }), chain));
}

TEST_CASE("threads and rings that make no sense are refused") {
    const Chain chain = receiver();
    CHECK_THROWS_WITH(check(broken([](Schedule& s) { s.stages[0].threads = 2; }), chain),
                      "schedule: stage 1 has 2 threads, expected 1: task 'radio' is not replicable");
    CHECK_THROWS_AS(check(broken([](Schedule& s) { s.stages[1].threads = 0; }), chain), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Schedule& s) { s.stages[0].sync_buff_size = 0; }), chain), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Schedule& s) { s.stages[2].sync_buff_size = 1; }), chain), ScheduleError);
    CHECK_THROWS_AS(check(broken([](Schedule& s) { s.stages[2].waiting = WaitMode::active; }), chain),
                    ScheduleError);
}

TEST_CASE("a schedule for more cores than there are is refused") {
    CHECK_NOTHROW(check(three_stages(), Platform{.big = 3, .little = 2}));
    CHECK_THROWS_WITH(check(three_stages(), Platform{.big = 2, .little = 8}),
                      "schedule: uses 3 'big' cores, expected at most 2");
    CHECK_THROWS_AS(check(three_stages(), Platform{.big = 8}), ScheduleError);
}

TEST_CASE("the table shows stages, cores, weights and the period") {
    CHECK(to_table(three_stages(), receiver()) ==
          "stage  tasks                 count  cores  kind       weight (us)  load\n"
          "    1  radio                     1      1  little           20.00   50%\n"
          "    2  demodulate .. decode      2      3  big              40.00  100%\n"
          "    3  sink                      1      1  little           10.00   25%\n"
          "period 40.00 us on 2 little, 3 big\n");
    Chain chain = receiver();
    chain.tasks.back().lacks_word = true;
    CHECK(to_table(three_stages(), chain)
              .ends_with("little, 3 big\nsequential only for want of a word: sink (say pure, if nothing that "
                         "they refer to changes)\n"));
}

TEST_CASE("few frames in flight take turns, whatever the stages could do") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {50}}, {"c", false, {20}}}};
    Schedule schedule{.stages = {{0, 1, 1, "big"}, {1, 2, 1, "big"}}};
    CHECK(period_us(schedule, chain) == 70);
    schedule.frames_in_flight = 1;
    CHECK(period_us(schedule, chain) == 100);
    CHECK(period_us(schedule, chain, {.hop_us = 5}) == 110);
    CHECK(distance_to_bound(schedule, chain, {.big = 2}, {}, 100).between ==
          "no more than 1 frame is in flight");
    schedule.frames_in_flight = 2;
    CHECK(period_us(schedule, chain) == 70);
    schedule.frames_in_flight = 0;
    CHECK_THROWS_WITH(check(schedule, chain), "schedule: 0 frames in flight, expected at least 1");
}

}  // namespace tidemill
