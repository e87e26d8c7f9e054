#include "tidemill/scheduling/unequal/factor_file.hpp"

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "tidemill/machine/testing/temporary_folder.hpp"
#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

namespace {

constexpr const char* kBoard = R"({"version": 1, "unit": "us", "machine": "a board", "written": "2026-11-23",
    "cores": {"big": 2, "little": 4}, "known_tasks": [
    {"name": "ldpc.decode", "replicable": true, "calls_per_frame": 0.5, "kinds": {
     "big": {"time_us": 52.5, "calls": 812, "quality": "measured", "joules": 0.0002},
     "little": {"time_us": 250, "calls": 3, "quality": "estimated"}}},
    {"name": "sink.send", "kinds": {}}]})";

std::string with_tasks(std::string_view tasks) {
    return fmt::format(
        R"({{"version": 1, "unit": "us", "cores": {{"big": 2, "little": 4}}, "known_tasks": [{}]}})", tasks);
}

std::string with_time(std::string_view time) {
    return with_tasks(fmt::format(R"({{"name": "a", "kinds": {{"big": {}}}}})", time));
}

std::string message_of(std::string_view text) {
    try {
        parse_factor_file(text, "board.json");
    } catch (const BridgeError& error) {
        return error.what();
    }
    return "accepted";
}

KnownTime random_time() {
    KnownTime time{*rc::gen::inRange(0, 1'000'000'000) / 1000.0, *rc::gen::arbitrary<std::uint64_t>(),
                   *rc::gen::element(Quality::measured, Quality::estimated)};
    if (*rc::gen::arbitrary<bool>()) time.joules = *rc::gen::inRange(0, 1'000'000) / 1e9;
    return time;
}

FactorFile random_file() {
    FactorFile file{.machine = *rc::gen::element<std::string>("", "a board"),
                    .cores = {.big = *rc::gen::inRange(1, 9),
                              .little = *rc::gen::inRange(1, 9),
                              .others = {{"mid", *rc::gen::inRange(1, 9)}}}};
    const int tasks = *rc::gen::inRange(0, 8);
    for (int i = 0; i < tasks; ++i) {
        KnownTask task{.name = fmt::format("task {}", i), .replicable = *rc::gen::arbitrary<bool>()};
        for (const char* kind : {"big", "mid", "little"})
            if (*rc::gen::arbitrary<bool>()) task.kinds[kind] = random_time();
        file.tasks.push_back(std::move(task));
    }
    return file;
}

}  // namespace

TEST_CASE("factor files: a task's times are found by its name and the kind's") {
    const FactorFile file = parse_factor_file(kBoard, "board.json");
    CHECK(file.machine == "a board");
    CHECK(file.written == "2026-11-23");
    CHECK(file.cores == Platform{.big = 2, .little = 4});
    REQUIRE(file.find("ldpc.decode") != nullptr);
    CHECK(file.find("ldpc.decode")->kinds.at("big") == KnownTime{52.5, 812, Quality::measured, 0.0002});
    CHECK(file.find("ldpc.decode")->kinds.at("little").quality == Quality::estimated);
    CHECK(file.find("ldpc.decode")->calls_per_frame == 0.5);
    CHECK(file.find("sink.send")->kinds.empty());
    CHECK(file.find("ldpc") == nullptr);
}

TEST_CASE("factor files: what was written is read back equal") {
    CHECK(rc::check("factor file round trip", [] {
        const FactorFile file = random_file();
        RC_ASSERT(parse_factor_file(to_json(file), "board.json") == file);
    }));
}

TEST_CASE("factor files: what says something wrong is refused with the place") {
    CHECK(message_of(kBoard) == "accepted");
    CHECK(message_of("{").starts_with("board.json:1:2: not valid JSON"));
    CHECK(message_of("[]") == "board.json: expected an object, found array");
    CHECK(message_of(R"({"version": 0, "unit": "us", "cores": {}, "known_tasks": []})") ==
          "board.json.version: version 0 is of an older program, this one reads version 1; remove the file, "
          "and it is learned anew");
    CHECK(message_of(R"({"version": 2, "speeds": []})") != "accepted");
    CHECK(message_of(R"({"version": 1, "unit": "ns", "cores": {}, "known_tasks": []})") ==
          "board.json.unit: unit 'ns', expected 'us'");
    CHECK(message_of(with_tasks(R"({"name": "a", "kinds": {}}, {"name": "a", "kinds": {}})")) ==
          "board.json.known_tasks[1]: two tasks are named 'a'; keep one");
    CHECK(
        message_of(with_tasks(R"({"name": "", "kinds": {}})")).starts_with("board.json.known_tasks[0].name"));
    CHECK(message_of(with_tasks(R"({"name": "a", "kinds": {"mid": {}}})")) ==
          "board.json.known_tasks[0].kinds.mid: the file's cores are big=2,little=4; give this kind there, "
          "too");
    CHECK(message_of(with_time(R"({"time_us": -1, "calls": 1, "quality": "measured"})")) ==
          "board.json.known_tasks[0].kinds.big.time_us: -1; expected at least 0");
    CHECK(message_of(with_time(R"({"time_us": 1, "calls": -1, "quality": "measured"})")) ==
          "board.json.known_tasks[0].kinds.big.calls: expected a whole number from 0 on, found -1");
    CHECK(
        message_of(with_time(R"({"time_us": 1, "calls": 1, "quality": "absent"})")) ==
        "board.json.known_tasks[0].kinds.big.quality: quality 'absent'; expected measured or estimated, and "
        "what is absent is left out");
}

TEST_CASE("factor files: one that another machine's kinds are in is refused, part of the machine is not") {
    const FactorFile file = parse_factor_file(kBoard, "board.json");
    CHECK_NOTHROW(check_kinds(file, {.big = 1}, "board.json"));
    CHECK_NOTHROW(check_kinds(file, {.big = 9, .little = 1}, "board.json"));
    CHECK_THROWS_WITH_AS(check_kinds(file, {.big = 1, .others = {{"mid", 2}}}, "board.json"),
                         "board.json: was learned on big=2,little=4, and knows nothing of kind 'mid' of "
                         "big=1,mid=2; learn it here, into another file",
                         BridgeError);
}

TEST_CASE("factor files: a run's own times take the place of older ones that are no surer") {
    FactorFile before{.cores = {.big = 1, .little = 1}};
    before.tasks = {{"a", {{"big", {10, 100}}, {"little", {30, 100}}}}, {"gone", {{"big", {1, 9}}}}};
    FactorFile run{.written = "today", .cores = {.big = 2}};
    run.tasks = {{"new", {{"big", {5, 8}}}}, {"a", {{"big", {12, 9}}}}};
    run.tasks[1].kinds["little"] = {99, 2, Quality::estimated};

    const FactorFile after = remembered(before, run);
    CHECK(after.written == "today");
    CHECK(after.cores == Platform{.big = 2, .little = 1});
    CHECK(after.tasks.size() == 3);
    CHECK(after.find("a")->kinds.at("big").us == 12);
    CHECK(after.find("a")->kinds.at("little").us == 30);
    CHECK(after.find("gone")->kinds.at("big").us == 1);
    CHECK(after.find("new")->kinds.at("big").us == 5);
}

TEST_CASE("factor files: what would be refused is not written, and an old file then stays") {
    const testing::TemporaryFolder folder;
    const std::filesystem::path path = folder.root() + "/factors.json";
    FactorFile file = parse_factor_file(kBoard, "board.json");
    write_factor_file(file, path);
    CHECK(read_factor_file(path) == file);
    FactorFile twice = file;
    twice.tasks.push_back(twice.tasks[0]);
    CHECK_THROWS_AS(write_factor_file(twice, path), BridgeError);
    CHECK(read_factor_file(path) == file);
    CHECK_THROWS_WITH_AS(read_factor_file(folder.root() + "/none.json"), doctest::Contains("none.json"),
                         BridgeError);
}

}  // namespace tidemill::bridge
