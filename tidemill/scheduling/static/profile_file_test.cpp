#include "tidemill/scheduling/static/profile_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

namespace tidemill {
namespace {

std::string with_tasks(std::string_view tasks) {
    return fmt::format(R"({{"tasks": [{}]}})", tasks);
}

std::string message_of(std::string_view text) {
    try {
        parse_profile(text, "chain.json");
    } catch (const ScheduleError& error) {
        return error.what();
    }
    return "accepted";
}

Profile random_profile() {
    Profile profile;
    profile.kinds = *rc::gen::elementOf(
        std::vector<std::vector<std::string>>{{"big"}, {"big", "little"}, {"little", "npu", "big"}});
    const int tasks = *rc::gen::inRange(1, 8);
    for (int i = 0; i < tasks; ++i) {
        ChainTask task{fmt::format("task {}", i), *rc::gen::arbitrary<bool>(), {}};
        for (std::size_t kind = 0; kind < profile.kinds.size(); ++kind)
            task.weight_us.push_back(*rc::gen::inRange(0, 1'000'000'000) / 1000.0);
        task.bytes_after = *rc::gen::inRange(0, 1'000'000);
        task.lacks_word = !task.replicable && *rc::gen::arbitrary<bool>();
        profile.tasks.push_back(std::move(task));
    }
    profile.frames_per_execution = *rc::gen::inRange(1, 32);
    profile.cores = {.big = *rc::gen::inRange(0, 9), .little = *rc::gen::inRange(0, 9)};
    profile.measured_by = *rc::gen::element<std::string>("", "a test");
    return profile;
}

}  // namespace

TEST_CASE("a plain chain is read, kinds in the order of the first task") {
    const Profile profile =
        parse_profile(with_tasks(R"({"name": "a", "replicable": true, "weight": {"little": 60, "big": 52.25}},
                      {"name": "b", "replicable": false, "weight": {"big": 1, "little": 0}})"),
                      "chain.json");
    CHECK(profile.kinds == std::vector<std::string>{"little", "big"});
    CHECK(profile.tasks[0] == ChainTask{"a", true, {60, 52.25}});
    CHECK(profile.tasks[1] == ChainTask{"b", false, {0, 1}});
    CHECK(profile.frames_per_execution == 1);
}

TEST_CASE("a written profile is read back equal") {
    CHECK(rc::check("profile file round trip", [] {
        const Profile profile = random_profile();
        RC_ASSERT(parse_profile(to_json(profile), "chain.json") == profile);
    }));
}

TEST_CASE("a profile file that says something wrong is refused with the place") {
    const std::string good = R"({"name": "a", "replicable": true, "weight": {"big": 5}})";
    CHECK(message_of(with_tasks(good)) == "accepted");
    CHECK(message_of("{").starts_with("chain.json:1:2: not valid JSON"));
    CHECK(message_of(with_tasks("")) == "chain.json: chain: no tasks; a chain has at least one");
    CHECK(message_of(with_tasks(good + "," + good)) ==
          "chain.json: chain: two tasks are named 'a'; rename one");
    CHECK(message_of(with_tasks(R"({"name": "a", "replicable": 1, "weight": {"big": 5}})")) ==
          "chain.json.tasks[0].replicable: expected true or false, found 1");
    CHECK(message_of(with_tasks(R"({"name": "a", "replicable": true, "weight": {"big": -5}})")) ==
          "chain.json.tasks[0].weight.big: weight -5 is negative; expected at least 0");
    CHECK(message_of(
              with_tasks(R"({"name": "a", "replicable": true, "weight": {"big": 5}, "bytes_after": -1})")) ==
          "chain.json.tasks[0].bytes_after: -1 bytes; expected at least 0");
    CHECK(message_of(with_tasks(R"({"name": "a", "replicable": true, "weight": {"big": "5"}})")) ==
          "chain.json.tasks[0].weight.big: expected a number, found \"5\"");
    CHECK(
        message_of(with_tasks(R"({"name": "a", "replicable": true, "weight": {"big": 9007199254740993}})")) ==
        "chain.json.tasks[0].weight.big: 9007199254740993 is beyond 2^53 and would be rounded; use a larger "
        "unit");
    CHECK(message_of(with_tasks(R"({"name": "a", "replicable": true, "weight": {}})")) ==
          "chain.json.tasks[0].weight: no core kinds; give at least one weight, for instance {\"big\": 5}");
    CHECK(message_of(with_tasks(good + R"(, {"name": "b", "replicable": true, "weight": {"little": 5}})")) ==
          "chain.json.tasks[1].weight: core kind 'little' has no weight in the first task; give all tasks "
          "the same kinds, null where one cannot run");
    CHECK(message_of(with_tasks(R"({"name": "a", "replicable": true, "weight": {"big": 1, "little": 2}},
                                   {"name": "b", "replicable": true, "weight": {"big": 1}})")) ==
          "chain.json.tasks[1].weight: the weight on 'little' is missing; null says that the task "
          "cannot run there");
    CHECK(message_of(R"({"unit": "ms", "tasks": []})") == "chain.json.unit: unit 'ms', expected 'us'");
    CHECK(message_of(R"({"schedule": []})") ==
          "chain.json: unknown key \"schedule\"; known are: version, unit, measured_by, warnings, "
          "frames_per_execution, "
          "cores, tasks");
}

}  // namespace tidemill
