#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/scheduling/static/strategy.hpp"
#include "tidemill/scheduling/static/testing/cost_model_checks.hpp"

namespace tidemill {
namespace {

using internal::BruteForce;
using internal::compare_with_enumeration;
using internal::Instance;
using internal::Outcome;
using internal::Random;
using internal::random_instance;
using internal::Shape;
using internal::to_chain;
using internal::to_platform;

constexpr unsigned kSeed = 77;

std::optional<Outcome> solve(const Instance& instance) {
    const Chain chain = to_chain(instance);
    try {
        const Schedule schedule = herad(chain, to_platform(instance));
        check(schedule, chain);
        return outcome(instance, schedule);
    } catch (const ScheduleError&) {
        return std::nullopt;
    }
}

void compare_with_brute_force(const Shape& shape, int count) {
    Random random(kSeed);
    int wrong = 0, without = 0;
    for (int i = 0; i < count && wrong < 3; ++i) {
        const Instance instance = random_instance(random, shape);
        const std::optional<Outcome> expected = BruteForce(instance).best_if_any();
        without += !expected;
        if (solve(instance) == expected) continue;
        ++wrong;
        MESSAGE(fmt::format("seed {}, case {}: weights {} replicable {} cores {}", kSeed, i, instance.weights,
                            instance.replicable, instance.cores));
    }
    CHECK(wrong == 0);
    CHECK(without > count / 100);
    CHECK(without < count);
}

/// `b` runs on a device too, in batches.
Chain with_device() {
    Chain chain{{"big", "gpu"},
                {{"a", false, {10, kCannotRun}}, {"b", true, {40, 8}}, {"c", true, {15, kCannotRun}}}};
    chain.tasks[1].batches = {
        {.kind = "gpu", .batch_us = 200, .frame_us = 7, .frames = 0.5, .host_us = 2, .most_frames = 100}};
    chain.tasks[1].weight_us[1] = chain.tasks[1].batches[0].weight_us(100);
    return chain;
}

Profile parsed(const std::string& tasks) {
    return parse_profile(R"({"tasks": [)" + tasks + "]}", "p.json");
}

}  // namespace

TEST_CASE("where tasks cannot run on some kinds, herad equals trying everything, also where nothing goes") {
    compare_with_brute_force({.max_tasks = 8, .kinds = 2, .max_cores = 2, .nowhere_of_ten = 3}, 5'000);
    compare_with_brute_force({.max_tasks = 6, .kinds = 3, .max_cores = 2, .nowhere_of_ten = 4}, 5'000);
    compare_with_brute_force({.max_tasks = 5, .kinds = 4, .max_cores = 1, .nowhere_of_ten = 5}, 3'000);
}

TEST_CASE("likewise every preference, wanted period and front, with costs and shared cores") {
    const Shape shape{.max_tasks = 5, .kinds = 2, .max_cores = 3, .most_weight = 30, .nowhere_of_ten = 3};
    compare_with_enumeration(shape, {}, 300);
    compare_with_enumeration(shape, {.costs = true}, 300);
    compare_with_enumeration(
        {.max_tasks = 3, .kinds = 3, .max_cores = 2, .most_weight = 30, .nowhere_of_ten = 3},
        {.costs = true, .slowdowns = true, .shared_cores = true}, 200);
}

TEST_CASE("no schedule beats the bound of work that cannot go everywhere") {
    Random random(kSeed);
    for (int i = 0; i < 1000; ++i) {
        const Instance instance = random_instance(
            random, {.max_tasks = 6, .kinds = 3, .max_cores = 3, .most_weight = 100, .nowhere_of_ten = 3});
        const std::optional<Outcome> best = solve(instance);
        if (!best) continue;
        CAPTURE(i);
        const double period = static_cast<double>(best->period.num) / static_cast<double>(best->period.den);
        CHECK(bound_of(to_chain(instance), to_platform(instance)).period_us <= period * (1 + 1e-11));
    }
}

TEST_CASE("a device takes the task that it has code for, and what feeds it keeps every stage waiting") {
    const Chain chain = with_device();
    const Schedule schedule = herad(chain, Platform{.big = 2, .others = {{"gpu", 1}}});
    REQUIRE(schedule.stages.size() == 3);
    CHECK(schedule.stages[1].core_kind == "gpu");
    CHECK(host_us(schedule, chain) == 1);
    CHECK(*schedule.period_us == 16);       // c, and the host's part of b
    CHECK(schedule.stages[1].batch == 12);  // with 6 it would take more than four fifths of that
    CHECK(stage_weights_us(schedule, chain, {})[2] == 16);
    CHECK(period_us(schedule, chain, CostModel{.stage_us = 1}) == 17);
    Schedule smaller = schedule;
    smaller.stages[1].batch = 10;
    CHECK(stage_weight_us(smaller.stages[1], chain) == 13.5);
}

TEST_CASE("what no cores of the platform run is refused by name, and so are stages where they cannot run") {
    const Chain chain = with_device();
    const Platform device_only{.others = {{"gpu", 1}}};
    CHECK_THROWS_WITH(herad(chain, device_only),
                      "platform: task 'a' runs on none of the cores gpu=1; add one of a "
                      "kind that it has a weight for");
    CHECK_THROWS_WITH(bound_of(chain, device_only),
                      "platform: task 'a' runs on none of its cores; add one of a "
                      "kind that it has a weight for");
    Chain split = chain;
    split.tasks[1].weight_us[0] = kCannotRun;
    CHECK_THROWS_WITH(herad(split, Platform{.big = 1, .others = {{"gpu", 1}}}),
                      "herad: no kind of the cores big=1,gpu=1 runs all tasks, and there are too few of each "
                      "for the tasks in their order; give more");
    CHECK(herad(split, Platform{.big = 2, .others = {{"gpu", 1}}}).stages.size() == 3);
    CHECK_THROWS_WITH(strategy("fertac").schedule(chain, Platform{.big = 1, .others = {{"gpu", 1}}}),
                      "fertac: some tasks cannot run on some of these cores, which only herad, mixed and "
                      "packed know; use one of them");
    Schedule wrong = herad(chain, Platform{.big = 2});
    wrong.stages = {{.task_count = 3, .core_kind = "gpu"}};
    CHECK_THROWS_WITH(check(wrong, chain), "schedule: stage 1 is on 'gpu', where task 'a' cannot run");
    wrong.stages = {{.task_count = 3, .core_kind = "big", .batch = 4}};
    CHECK_THROWS_WITH(check(wrong, chain),
                      "schedule: stage 1 takes batches of 4 on 'big', expected none for task 'a'");
    split.tasks[1].weight_us[1] = kCannotRun;
    CHECK_THROWS_WITH(check(split),
                      "task 'b': cannot run on any kind of cores; give it a weight on one of: big, gpu");
}

TEST_CASE("a profile file says null for a kind that a task cannot run on, and tells what batches cost") {
    Profile profile;
    static_cast<Chain&>(profile) = with_device();
    CHECK(parse_profile(to_json(profile), "p.json") == profile);
    profile.tasks[1].batches[0].alone = {{30, 1.5}, {60, 2.5}, 73000, "pinned"};
    CHECK(parse_profile(to_json(profile), "p.json") == profile);
    CHECK(to_json(profile).find("\"gpu\": null") != std::string::npos);
    CHECK_THROWS_WITH(parsed(R"({"name": "a", "replicable": true, "weight": {"big": null}})"),
                      "p.json: task 'a': cannot run on any kind of cores; give it a weight on one of: big");
    const std::string device =
        R"({"name": "a", "replicable": true, "weight": {"big": 1, "gpu": GPU}, "batches": )"
        R"({"gpu": {"batch_us": BATCH, "frame_us": 1, "frames": 1, "host_us": 0, )"
        R"("most_frames": 8}}})";
    const auto with = [&](const std::string& gpu, const std::string& batch) {
        std::string text = device;
        text.replace(text.find("GPU"), 3, gpu);
        return text.replace(text.find("BATCH"), 5, batch);
    };
    CHECK(parsed(with("2", "8")).tasks[0].batches[0].weight_us(8) == 2);
    CHECK_THROWS_WITH(parsed(with("null", "8")),
                      "p.json: task 'a': has a cost of batches on 'gpu', but no weight there; give both");
    CHECK_THROWS_AS(parsed(with("2", "-1")), ScheduleError);
}

TEST_CASE("a schedule file keeps a stage's batch") {
    Schedule schedule = herad(with_device(), Platform{.big = 2, .others = {{"gpu", 1}}});
    schedule.stages[1].batch = 64;
    CHECK(parse_schedule(to_json(schedule), "s.json").stages == schedule.stages);
}

}  // namespace tidemill
