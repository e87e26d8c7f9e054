#include "tidemill/tuning/choose/choice_file.hpp"

#include <doctest/doctest.h>

#include "tidemill/runtime/testing/counted_sum.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill {
namespace {

RememberedChoice choice_of(const std::string& graph) {
    Schedule schedule{.stages = {{0, 2, 1, "big"}, {2, 1, 1, "big"}}};
    schedule.stages[0].sync_buff_size = 4;
    return {.key = {graph, "machine", "0.1"},
            .choice = {.way = {.executor = ExecutorKind::pipeline, .schedule = schedule},
                       .tried = {{"pipeline of 2 stages", 262}, {"in order", 319}},
                       .bound_us = 168,
                       .forecast = Forecast{262, 250, 280}}};
}

}  // namespace

TEST_CASE("choice file: what was written is read back for its key, and for no other") {
    const ScratchFolder folder;
    const std::string path = folder / "choices.json";
    CHECK_FALSE(remembered_choice(path, choice_of("a").key));
    remember_choice(path, choice_of("a"));
    remember_choice(path, choice_of("b"));
    const std::optional<Choice> found = remembered_choice(path, choice_of("a").key);
    REQUIRE(found);
    CHECK(found->is_remembered);
    CHECK(found->way.schedule->stages == choice_of("a").choice.way.schedule->stages);
    CHECK(found->line() ==
          "pipeline of 2 stages, as chosen before: 262.00 us; in order 319.00; bound 168.00");
    CHECK(found->forecast->most_us == 280);
    forget_choice(path, choice_of("b").key);
    CHECK_FALSE(remembered_choice(path, choice_of("b").key));
    CHECK_FALSE(remembered_choice(path, {"a", "machine", "0.2"}));
    CHECK_FALSE(remembered_choice(path, {"a", "another", "0.1"}));
}

TEST_CASE(
    "choice file: stages that share threads, and mixed ones, are read back and called by what they are") {
    const ScratchFolder folder;
    const std::string path = folder / "choices.json";
    RememberedChoice choice = choice_of("a");
    std::vector<Stage>& stages = choice.choice.way.schedule->stages;
    CHECK(choice.choice.way.name() == "pipeline of 2 stages");
    stages[0].owners = stages[1].owners = {1};
    CHECK(choice.choice.way.name() == "pipeline of 2 stages on 1 thread");
    remember_choice(path, choice);
    CHECK(remembered_choice(path, choice.key)->way.schedule->stages == stages);
    stages[0].owners.clear();
    stages[1].owners.clear();
    const std::vector<std::string> letters{"big:1", "little:1", "big:1"};
    stages[1] = {2, 1, 2, ""};
    stages[1].word = parse_word(letters);
    CHECK(choice.choice.way.name() == "mixed pipeline of 2 stages");
    remember_choice(path, choice);
    CHECK(remembered_choice(path, choice.key)->way.schedule->stages == stages);
}

TEST_CASE("choice file: what the busiest threads took where the source set the pace is read back") {
    RememberedChoice choice = choice_of("a");
    choice.choice.tried = {{"pipeline of 2 stages", 1000, 262}, {"in order", 1000, 319}};
    const std::vector<RememberedChoice> read = parse_choices(to_json({choice}), "file");
    CHECK(read.front().choice.line() ==
          "pipeline of 2 stages, as chosen before, the source sets the pace: 1000.00 us, busiest thread "
          "262.00 us a frame; in order 319.00; bound 168.00");
}

TEST_CASE("choice file: a key has one choice, and of many keys the oldest goes") {
    const ScratchFolder folder;
    const std::string path = folder / "choices.json";
    remember_choice(path, choice_of("first"));
    remember_choice(path, choice_of("first"));
    CHECK(parse_choices(ScratchFolder::content_of(path), path).size() == 1);
    for (int i = 0; i < 100; ++i) remember_choice(path, choice_of("graph " + std::to_string(i)));
    CHECK(parse_choices(ScratchFolder::content_of(path), path).size() == 100);
    CHECK_FALSE(remembered_choice(path, choice_of("first").key));
}

TEST_CASE("choice file: damage is told with its place, and is written over") {
    CHECK_THROWS_WITH_AS(parse_choices("{", "file"), doctest::Contains("file"), RunError);
    CHECK_THROWS_WITH_AS(parse_choices(R"({"version": 2, "choices": []})", "file"),
                         doctest::Contains("version"), RunError);
    std::string text = to_json({choice_of("a")});
    text.replace(text.find("\"pipeline\""), 10, "\"magic\"");
    CHECK_THROWS_WITH_AS(parse_choices(text, "file"), doctest::Contains("executor 'magic'"), RunError);
    const ScratchFolder folder;
    const std::string path = folder / "choices.json";
    remember_choice(path, choice_of("a"));
    CHECK_THROWS_AS(remember_choice(folder / "choices.json/below", choice_of("a")), RunError);
}

TEST_CASE("choice file: graphs, machines and their cores have keys of their own") {
    const Topology topology = Topology::here();
    Graph one;
    one.add<internal::Count>(3);
    Graph two;
    auto& source = two.add<internal::Count>(3);
    auto& sum = two.add<internal::Sum>();
    two.chain(source, sum);
    CHECK(choice_key(one, topology, {.big = 1}) == choice_key(one, topology, {.big = 1}));
    CHECK_FALSE(choice_key(one, topology, {.big = 1}) == choice_key(two, topology, {.big = 1}));
    CHECK_FALSE(choice_key(one, topology, {.big = 1}) == choice_key(one, topology, {.big = 2}));
    CHECK_FALSE(choice_key(one, topology, {.big = 1}).version.empty());
}

}  // namespace tidemill
