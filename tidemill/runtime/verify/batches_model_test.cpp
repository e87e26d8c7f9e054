#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/verify/testing/explored_search.hpp"
#include "tidemill/runtime/verify/testing/wrong_turns.hpp"

using namespace tidemill;
using namespace tidemill::explore;

namespace {

StageShape batches_of(std::uint32_t frames, std::uint32_t under_way) {
    StageShape shape;
    shape.batch = frames;
    shape.under_way = under_way;
    return shape;
}

// The stage that holds several tokens lies before, between and behind others.
std::vector<std::vector<StageShape>> around(const StageShape& held) {
    return {{{1}, held}, {{1}, held, {1}}, {{2}, held}};
}

}  // namespace

TEST_CASE("a stage that holds several tokens, one after the other: nothing is lost, down to one token") {
    Searches search("batches");
    for (const auto& stages : around(batches_of(2, 1))) {
        for (const std::uint32_t tokens : {1, 2, 3, 4}) {
            Scenario plain{.stages = stages, .tokens = {tokens, 1}, .frames = 5, .waiting = WaitMode::active};
            search.expect_no_fault(plain);
            plain.events = {{0, 0, 1, 'h'}, {0, 0, 4, 'T'}};
            search.expect_no_fault(plain);
            plain.events = {};
            plain.frames = 4;
            plain.halted_by_user = true;
            search.expect_no_fault(plain);
            if (stages.size() > 2) continue;
            Scenario passive{.stages = stages, .tokens = {tokens, 1}, .frames = 3};
            search.expect_no_fault(passive);
            passive.halted_by_user = true;
            search.expect_no_fault(passive);
        }
    }
}

TEST_CASE(
    "a stage that waits for full batches gets them where there are tokens enough, and ends with the rest") {
    Searches search("full batches");
    for (const std::uint32_t under_way : {1, 2}) {
        StageShape patient = batches_of(2, under_way);
        patient.waits_for_more = true;
        for (const std::uint32_t tokens : {2, 3}) {
            Scenario scenario{.stages = {{1}, patient, {1}},
                              .tokens = {tokens, 1},
                              .frames = 5,
                              .waiting = WaitMode::active};
            search.expect_no_fault(scenario);
        }
    }
}

// Actively: a passive stage naps until some time is over, which rescues nobody here.
TEST_CASE("batches that are done elsewhere in any order go on in theirs, and all tokens come home") {
    Searches search("batches under way");
    for (const std::uint32_t frames : {1, 2}) {
        for (const auto& stages : around(batches_of(frames, 2))) {
            for (const std::uint32_t tokens : {1, 2, 3, 4}) {
                Scenario plain{
                    .stages = stages, .tokens = {tokens, 1}, .frames = 4, .waiting = WaitMode::active};
                search.expect_no_fault(plain);
                plain.events = {{0, 0, 1, 'h'}};
                plain.halted_by_user = true;
                plain.frames = 3;
                search.expect_no_fault(plain);
            }
        }
    }
    search.expect_no_fault(
        {.stages = {{1}, batches_of(1, 3)}, .tokens = {4, 1}, .frames = 4, .waiting = WaitMode::active});
}

TEST_CASE("a batch that throws where it begins or ends: what is under way ends, and the first one is told") {
    Searches search("failures of batches");
    const std::vector<std::vector<Event>> failures{{{0, 1, 1, 'T'}},
                                                   {{0, 1, 1, 'B'}},
                                                   {{0, 1, 1, 'T'}, {0, 1, 2, 'T'}},
                                                   {{0, 1, 1, 'T'}, {0, 1, 2, 'B'}},
                                                   {{0, 1, 2, 'B'}, {0, 0, 3, 'T'}},
                                                   {{0, 1, 2, 'T'}, {0, 0, 1, 'T'}}};
    for (const auto& stages : around(batches_of(1, 2))) {
        for (const std::uint32_t tokens : {1, 2, 3}) {
            for (const std::vector<Event>& events : failures) {
                Scenario scenario{
                    .stages = stages, .tokens = {tokens, 1}, .frames = 5, .waiting = WaitMode::active};
                scenario.events = events;
                search.expect_no_fault(scenario);
            }
        }
    }
}

TEST_CASE("batches elsewhere in relaxed memory, and what is taken for done without being asked") {
    Searches search("batches in relaxed memory");
    Scenario scenario{
        .stages = {{1}, batches_of(1, 2)}, .tokens = {2, 1}, .frames = 3, .waiting = WaitMode::active};
    search.expect_no_fault<RelaxedMemory>(scenario);
    scenario.stages[1].ends_unasked = true;
    search.expect_caught(scenario);
}

TEST_CASE("late frames before a stage that holds several tokens are lost, and nothing that it holds") {
    Searches search("batches of late frames");
    for (const std::uint32_t under_way : {1, 2}) {
        for (const std::uint32_t tokens : {2, 3}) {
            Scenario scenario{.stages = {{1}, batches_of(2, under_way)},
                              .tokens = {tokens, 1},
                              .frames = 4,
                              .waiting = WaitMode::active};
            scenario.late = Late::drop_newest;
            search.expect_no_fault(scenario);
        }
    }
}
