#include "tidemill/scheduling/static/schedule_file.hpp"

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

namespace tidemill {
namespace {

constexpr std::string_view kStreamPuFile = R"({
    "resources": {
        "p-core": {"node-list": ["PU0-7", "core2", 12], "smt": 2},
        "e-core": {"node-list": ["core8-15"], "smt": 1, "cluster-size": 4}
    },
    "schedule": [
        {"tasks": 3, "threads": 1, "core-type": "p-core", "pinning-policy": "packed",
         "sync_buff_size": 2, "sync_waiting_type": "active"},
        {"tasks": 1, "threads": 6, "core-type": "e-core", "pinning-policy": "guided"}
    ]
})";

std::string with_stage(std::string_view stage) {
    return fmt::format(R"({{"schedule": [{{"tasks": 2, "threads": 1, "core-type": "p-core"}}, {}]}})", stage);
}

std::string message_of(std::string_view text) {
    try {
        parse_schedule(text, "plan.json");
    } catch (const ScheduleError& error) {
        return error.what();
    }
    return "accepted";
}

Stage random_stage(std::size_t first_task, bool last) {
    Stage stage;
    stage.first_task = first_task;
    stage.task_count = *rc::gen::inRange<std::size_t>(1, 6);
    stage.threads = *rc::gen::inRange(1, 100);
    stage.core_kind = *rc::gen::element<std::string>("big", "little", "gpu");
    stage.pinning = *rc::gen::element(Pinning::kPacked, Pinning::kGuided, Pinning::kDistant, Pinning::kLoose);
    if (*rc::gen::inRange(0, 3) == 0) {
        stage.word = spread_word(std::vector<std::string>{"big", "big", "little"},
                                 std::vector<std::size_t>{3, *rc::gen::inRange<std::size_t>(1, 9), 1});
        stage.threads = 3;
        stage.core_kind.clear();
    }
    // Names of its own, so that no pinning is shared.
    if (*rc::gen::inRange(0, 3) == 0)
        for (int thread = 0; thread < stage.threads; ++thread)
            stage.owners.push_back(1 + static_cast<int>(first_task) * 100 + thread);
    if (!last && *rc::gen::arbitrary<bool>()) stage.sync_buff_size = *rc::gen::inRange(1, 50);
    if (!last && *rc::gen::arbitrary<bool>())
        stage.waiting = *rc::gen::element(WaitMode::passive, WaitMode::active);
    return stage;
}

CoreResource random_resource(std::string kind) {
    CoreResource resource{std::move(kind), {}, *rc::gen::inRange(1, 3), {}};
    const int ranges = *rc::gen::inRange(0, 4);
    for (int i = 0; i < ranges; ++i) {
        const int first = *rc::gen::inRange(0, 40);
        resource.nodes.push_back({*rc::gen::element(NodeRange::Unit::kPu, NodeRange::Unit::kCore), first,
                                  first + *rc::gen::inRange(0, 8)});
    }
    if (*rc::gen::arbitrary<bool>()) resource.cluster_size = *rc::gen::inRange(1, 9);
    return resource;
}

Schedule random_schedule() {
    Schedule schedule;
    const int stages = *rc::gen::inRange(1, 6);
    for (int i = 0; i < stages; ++i)
        schedule.stages.push_back(random_stage(schedule.task_count(), i + 1 == stages));
    if (*rc::gen::arbitrary<bool>())
        for (std::size_t i = 0; i < schedule.task_count(); ++i)
            schedule.task_names.push_back(fmt::format("task \"{}\" \\ é", i));
    schedule.resources = {random_resource("big"), random_resource("little")};
    if (*rc::gen::arbitrary<bool>()) schedule.resources.push_back(random_resource("gpu"));
    if (*rc::gen::arbitrary<bool>()) schedule.period_us = *rc::gen::inRange(0, 1'000'000) / 64.0;
    if (*rc::gen::arbitrary<bool>()) schedule.frames_in_flight = *rc::gen::inRange(1, 100);
    schedule.made_by = *rc::gen::element<std::string>("", "herad");
    return schedule;
}

}  // namespace

TEST_CASE("kinds of cores by hand are a schedule's resources, and what names no cores is refused") {
    constexpr auto kPu = NodeRange::Unit::kPu, kCore = NodeRange::Unit::kCore;
    const std::vector<CoreResource> resources = parse_core_kinds("big=0-3,little=PU4-7,10,slow=core9");
    REQUIRE(resources.size() == 3);
    CHECK(resources[0] == CoreResource{"big", {{kPu, 0, 3}}, 1, {}});
    CHECK(resources[1] == CoreResource{"little", {{kPu, 4, 7}, {kPu, 10, 10}}, 1, {}});
    CHECK(resources[2] == CoreResource{"slow", {{kCore, 9, 9}}, 1, {}});
    Schedule schedule{.stages = {{0, 1, 1, "big"}}};
    schedule.resources = resources;
    CHECK(parse_schedule(to_json(schedule), "again.json").resources == resources);
    for (const char* wrong :
         {"", "big", "0-3", "=0-3", "big=", "big=3-0", "big=0,", "big=x", "big=0,big=1"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(parse_core_kinds(wrong), ScheduleError);
    }
}

TEST_CASE("a StreamPU schedule is read as it is meant") {
    const Schedule schedule = parse_schedule(kStreamPuFile, "plan.json");
    REQUIRE(schedule.stages.size() == 2);
    CHECK(schedule.stages[0] == Stage{.first_task = 0,
                                      .task_count = 3,
                                      .threads = 1,
                                      .core_kind = "big",
                                      .pinning = Pinning::kPacked,
                                      .sync_buff_size = 2,
                                      .waiting = WaitMode::active});
    CHECK(schedule.stages[1] == Stage{.first_task = 3,
                                      .task_count = 1,
                                      .threads = 6,
                                      .core_kind = "little",
                                      .pinning = Pinning::kGuided});
    REQUIRE(schedule.resources.size() == 2);
    using enum NodeRange::Unit;
    CHECK(schedule.resources[0] == CoreResource{"big", {{kPu, 0, 7}, {kCore, 2, 2}, {kPu, 12, 12}}, 2, {}});
    CHECK(schedule.resources[1] == CoreResource{"little", {{kCore, 8, 15}}, 1, 4});
}

TEST_CASE("hyphens and underscores in keys are the same") {
    const Schedule schedule = parse_schedule(
        with_stage(R"({"tasks": 1, "threads": 1, "core_type": "lp-e", "pinning_policy": "loose"})"),
        "plan.json");
    CHECK(schedule.stages[1].core_kind == "lp-e");
    CHECK(schedule.stages[1].pinning == Pinning::kLoose);
    const std::string hyphens = R"({"schedule": [
        {"tasks": 1, "threads": 1, "core-type": "p-core",
         "sync-buff-size": 3, "sync-waiting-type": "passive"},
        {"tasks": 1, "threads": 1, "core-type": "p-core"}]})";
    CHECK(parse_schedule(hyphens, "plan.json").stages[0].sync_buff_size == 3);
    CHECK(parse_schedule(hyphens, "plan.json").stages[0].waiting == WaitMode::passive);
}

TEST_CASE("a limit of frames in flight is a number of them") {
    const auto with_limit = [](std::string_view limit) {
        return fmt::format(
            R"({{"frames-in-flight": {}, "schedule": [{{"tasks": 1, "threads": 1, "core-type": "p-core"}}]}})",
            limit);
    };
    CHECK(parse_schedule(with_limit("3"), "plan.json").frames_in_flight == 3);
    for (const char* limit : {"0", "-1", "2.5", "\"3\"", "1e9"}) {
        CAPTURE(limit);
        CHECK(message_of(with_limit(limit)).starts_with("plan.json.frames-in-flight: "));
    }
}

TEST_CASE("what is written is read back equal") {
    CHECK(rc::check("schedule file round trip", [] {
        const Schedule schedule = random_schedule();
        RC_ASSERT(parse_schedule(to_json(schedule), "plan.json") == schedule);
    }));
}

TEST_CASE("the letters of a mixed stage stand in place of its core type") {
    const std::string text =
        with_stage(R"({"tasks": 1, "threads": 2, "word": ["e-core:1", "p-core:7", "e-core:1"]})");
    const Stage stage = parse_schedule(text, "plan.json").stages[1];
    CHECK(stage.word == CyclicWord{{"little", "big"}, {0, 1, 0}});
    CHECK(stage.core_kind.empty());
    CHECK(stage.kind_names() == "little+big");
    CHECK(stage.cores() == std::vector<CoreCount>{{"little", 1}, {"big", 1}});
    CHECK(to_json(Schedule{.stages = {stage}}).find("core-type") == std::string::npos);
}

TEST_CASE("stages that name the same owner share a thread") {
    const Schedule schedule =
        parse_schedule(R"({"schedule": [{"tasks": 1, "threads": 1, "core-type": "p-core", "owners": [1]},
                                        {"tasks": 2, "threads": 2, "core-type": "p-core"},
                                        {"tasks": 1, "threads": 2, "core-type": "p-core", "owners": [2, 1]}]})",
                       "plan.json");
    CHECK(schedule.stages[2].owners == std::vector<int>{2, 1});
    CHECK(schedule.thread_count() == 4);
    CHECK(cores_used(schedule) == std::vector<CoreCount>{{"big", 4}});
    CHECK(schedule.owners().at({"big", 1}) == std::vector<Seat>{{0, 0}, {2, 1}});
    CHECK(parse_schedule(to_json(schedule), "again").stages == schedule.stages);
    CHECK(to_json(schedule).find("owners") != std::string::npos);
}

TEST_CASE("both published core types are written even when no machine is known yet") {
    Schedule schedule;
    schedule.stages = {{.first_task = 0, .task_count = 1, .threads = 1, .core_kind = "big"}};
    const std::string text = to_json(schedule);
    CHECK(text.find("\"p-core\"") != std::string::npos);
    CHECK(text.find("\"e-core\"") != std::string::npos);
    CHECK(parse_schedule(text, "plan.json").stages == schedule.stages);
}

TEST_CASE("malformed JSON is refused with line and column") {
    CHECK(message_of("{\n  \"schedule\": [,]\n}").starts_with("plan.json:2:16: not valid JSON"));
    CHECK(message_of("").starts_with("plan.json:1:1: not valid JSON"));
    CHECK(message_of(std::string(100'000, '[')) == "plan.json: nested more than 64 deep");
    CHECK(message_of(
              with_stage(fmt::format(R"({{"tasks": {}{}}})", std::string(60, '['), std::string(60, ']')))) ==
          "plan.json.schedule[1].tasks: expected a whole number from 1 to 1000000, found array");
    CHECK(message_of("{\"schedule\": \"\xff\"}").starts_with("plan.json:1:"));
    CHECK(message_of("{\"version\": 1e999}").starts_with("plan.json:1:17: not valid JSON (number overflow"));
}

TEST_CASE("a schedule file that says something wrong is refused with the place") {
    CHECK(message_of(R"({"schedule": [], "schedule": []})") ==
          "plan.json: key \"schedule\" is given twice in one object; keep one");
    CHECK(message_of("[]") == "plan.json: expected an object, found array");
    CHECK(message_of("{}") == "plan.json: key \"schedule\" is missing");
    CHECK(message_of(R"({"schedule": []})") == "plan.json.schedule: no stages; expected at least one");
    CHECK(message_of(R"({"shedule": []})") ==
          "plan.json: unknown key \"shedule\"; known are: version, made-by, period-us, frames-in-flight, "
          "resources, schedule");
    CHECK(message_of(R"({"period-us": -7, "schedule": []})") ==
          "plan.json.period-us: -7 us; expected at least 0");
    CHECK(message_of(R"({"version": 2, "schedule": []})") ==
          "plan.json.version: expected a whole number from 1 to 1, found 2");
    CHECK(message_of(with_stage(R"({"threads": 1, "core-type": "e-core"})")) ==
          "plan.json.schedule[1]: key \"tasks\" is missing");
    CHECK(message_of(with_stage(R"({"tasks": 0, "threads": 1, "core-type": "e-core"})")) ==
          "plan.json.schedule[1].tasks: expected a whole number from 1 to 1000000, found 0");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 1.5, "core-type": "e-core"})")) ==
          "plan.json.schedule[1].threads: expected a whole number from 1 to 1000000, found 1.5");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 18446744073709551615, "core-type": "e-core"})")) ==
          "plan.json.schedule[1].threads: expected a whole number from 1 to 1000000, found "
          "18446744073709551615");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 1000000, "core-type": "e-core"})")) ==
          "plan.json.schedule[1]: more than 1000000 threads in all stages");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 1, "core-type": 7})")) ==
          "plan.json.schedule[1].core-type: expected a text, found 7");
    CHECK(message_of(
              with_stage(R"({"tasks": 1, "threads": 1, "core-type": "e-core", "core_type": "p-core"})")) ==
          "plan.json.schedule[1]: key \"core_type\" is given in two spellings; keep one");
    CHECK(message_of(
              with_stage(R"({"tasks": 1, "threads": 1, "core-type": "e-core", "pinning-policy": "near"})")) ==
          "plan.json.schedule[1].pinning-policy: expected packed, guided, distant or loose, found 'near'");
    CHECK(
        message_of(with_stage(R"({"tasks": 1, "threads": 1, "core-type": "e-core", "sync_buff_size": 2})")) ==
        "plan.json.schedule: the last stage has no ring after it; remove its sync_buff_size and "
        "sync_waiting_type");
    CHECK(
        message_of(with_stage(R"({"tasks": 1, "threads": 1, "core-type": "e-core", "task-names": ["a"]})")) ==
        "plan.json.schedule: task-names for 1 of 3 tasks; give them in all stages or in none");
    CHECK(
        message_of(with_stage(R"({"tasks": 2, "threads": 1, "core-type": "e-core", "task-names": ["a"]})")) ==
        "plan.json.schedule[1].task-names: 1 names, expected 2 (the stage's tasks)");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 2, "word": ["p-core:1"]})")) ==
          "plan.json.schedule[1]: 2 threads, expected 1 (the different letters of its word)");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 2, "core-type": "p-core", "owners": [1]})")) ==
          "plan.json.schedule[1].owners: 1 numbers, expected 2 (one for each thread)");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 2, "core-type": "p-core", "owners": [3, 3]})")) ==
          "plan.json.schedule: schedule: two threads of stage 2 are 'big:3', expected different ones");
    CHECK(message_of(with_stage(R"({"tasks": 1, "threads": 1, "word": ["p-core"]})")) ==
          "plan.json.schedule[1].word: letter 'p-core' is not KIND:NUMBER; write for instance \"big:1\"");
    CHECK(message_of(
              with_stage(R"({"tasks": 1, "threads": 1, "core-type": "p-core", "word": ["p-core:1"]})")) ==
          "plan.json.schedule[1]: a stage with a word has no core-type: its letters name the kinds of whole "
          "cores; remove one of the two");
}

TEST_CASE("a hundred thousand stages are read as fast as they are long, and core kinds are bounded") {
    std::string stages = R"({"tasks": 1, "threads": 1, "core-type": "p-core"})";
    const std::string one = stages;
    for (int i = 1; i < 100'000; ++i) stages += "," + one;
    CHECK(parse_schedule("{\"schedule\": [" + stages + "]}", "plan.json").stages.size() == 100'000);
    std::string kinds = one;
    for (int i = 0; i < 64; ++i)
        kinds += fmt::format(R"(,{{"tasks": 1, "threads": 1, "core-type": "k{}"}})", i);
    CHECK(message_of("{\"schedule\": [" + kinds + "]}") ==
          "plan.json.schedule[64]: more than 64 core kinds in all stages");
}

TEST_CASE("a node list that cannot be read is refused") {
    for (const char* node : {"\"PU\"", "\"PU3-1\"", "\"PU1-2-3\"", "\"cpu1\"", "\"PU-1\"", "-1", "1.5",
                             "null", "\"PU99999999999\"", "\"core 1\""}) {
        CAPTURE(node);
        const auto text =
            fmt::format(R"({{"resources": {{"p-core": {{"node-list": [{}]}}}}, "schedule": []}})", node);
        CHECK(message_of(text).starts_with("plan.json.resources.p-core.node-list[0]: expected "));
    }
}

TEST_CASE("files that cannot be opened, read or written are named") {
    const auto folder = std::filesystem::temp_directory_path();
    CHECK_THROWS_AS(read_schedule(folder / "no-such-folder" / "plan.json"), ScheduleError);
    CHECK_THROWS_AS(read_schedule(folder), ScheduleError);
    Schedule schedule;
    schedule.stages = {{.first_task = 0, .task_count = 1, .threads = 1, .core_kind = "big"}};
    CHECK_THROWS_AS(write_schedule(schedule, folder / "no-such-folder" / "plan.json"), ScheduleError);
    if (std::filesystem::exists("/dev/full"))
        CHECK_THROWS_AS(write_schedule(schedule, "/dev/full"), ScheduleError);
}

}  // namespace tidemill
