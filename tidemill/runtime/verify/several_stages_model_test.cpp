#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/verify/testing/explored_search.hpp"
#include "tidemill/runtime/verify/testing/wrong_turns.hpp"

using namespace tidemill;
using namespace tidemill::explore;

namespace {

/// The first and the third stage on one thread, the second one on another.
std::vector<StageShape> first_and_third() {
    return {{.owners = {1}}, {1}, {.owners = {1}}};
}

/// One thread has the end of a segment and the last stage of the next, another its first.
std::vector<StageShape> around_a_segment() {
    return {{.ends_segment = true, .owners = {1}}, {1}, {.owners = {1}}};
}

}  // namespace

TEST_CASE("a thread with the first and the third stage: nothing is lost or stuck, down to one token") {
    Searches search("first and third stage");
    for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
        for (const std::uint32_t tokens : {1, 2, 3}) {
            Scenario scenario{
                .stages = first_and_third(), .tokens = {tokens, 1}, .frames = 4, .waiting = waiting};
            search.expect_no_fault(scenario);
            for (const char flow : {'h', 'S', 'T'}) {
                for (const std::uint32_t stage : {0, 1, 2}) {
                    scenario.events = {{0, stage, 1, flow}};
                    search.expect_no_fault(scenario);
                }
            }
            scenario.events = {};
            scenario.frames = 3;
            scenario.halted_by_user = true;
            search.expect_no_fault(scenario);
        }
    }
}

TEST_CASE("a thread with a segment's end and the last stage of the next: it never waits for itself") {
    Searches search("around a segment");
    for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
        for (const std::uint32_t tokens : {1, 2}) {
            Scenario scenario{
                .stages = around_a_segment(), .tokens = {tokens, tokens}, .frames = 3, .waiting = waiting};
            for (const char* last : {"ao", "s", "aS", "T", "aaT"}) {
                scenario.emissions = {"ao", "aas", last};
                scenario.events = {};
                search.expect_no_fault(scenario);
                for (const char flow : {'h', 'S', 'T'}) {
                    for (const Event& event : {Event{0, 0, 1, flow}, {1, 1, 1, flow}, {1, 2, 2, flow}}) {
                        scenario.events = {event};
                        search.expect_no_fault(scenario);
                    }
                }
            }
            scenario.events = {};
            scenario.halted_by_user = true;
            search.expect_no_fault(scenario);
        }
    }
}

TEST_CASE("threads with several stages of which some are replicated, neighbours or crossed") {
    Searches search("several stages each");
    for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
        for (const std::uint32_t tokens : {1, 2}) {
            for (const std::vector<StageShape>& stages : std::vector<std::vector<StageShape>>{
                     {{.owners = {1}}, {.owners = {1}}, {1}},
                     {{.owners = {1}}, {.owners = {2}}, {.owners = {1}}, {.owners = {2}}},
                     {{.owners = {1}}, {.threads = 2, .owners = {2, 1}}, {.owners = {2}}},
                     {{.threads = 2, .letters = {0, 0, 1}, .owners = {1, 2}}, {.owners = {2}}}}) {
                Scenario scenario{.stages = stages, .tokens = {tokens, 1}, .frames = 4, .waiting = waiting};
                if (waiting == WaitMode::passive) scenario.frames = 3;
                search.expect_no_fault(scenario);
                scenario.events = {{0, 1, 2, 'T'}, {0, 0, 1, 'h'}};
                search.expect_no_fault(scenario);
            }
        }
    }
}

TEST_CASE("a thread with several stages that waits inside one is caught") {
    Searches search("waits inside");
    Scenario scenario{.stages = around_a_segment(), .tokens = {1, 1}, .frames = 2};
    scenario.emissions = {"ao", "o"};
    search.expect_no_fault(scenario);
    scenario.waits_inside = true;
    search.expect_caught(scenario);
}

TEST_CASE("a bell rung before the turn, and a look at one ring only are caught") {
    Searches search("wrong bells");
    for (const auto& stages : {first_and_third(), around_a_segment()}) {
        const Scenario scenario{.stages = stages, .tokens = {1, 1}, .frames = 3};
        search.expect_fault(scenario, wrong::bell_before_turn(WordNames(scenario), 1), "deadlock");
    }
    const Scenario scenario{.stages = around_a_segment(), .tokens = {2, 1}, .frames = 3};
    search.expect_fault(scenario, wrong::looks_at_one_ring(WordNames(scenario)), "deadlock");
}

TEST_CASE("memory as C++ promises it: a bell wakes its thread, unless it is hushed by a store alone") {
    Searches search("bells in relaxed memory");
    const Settings kernel{.wakes_are_seen = true};
    for (const std::uint32_t tokens : {1, 2}) {
        Scenario scenario{.stages = first_and_third(), .tokens = {tokens, 1}, .frames = 2};
        search.expect_no_fault<RelaxedMemory>(scenario, kernel);
        scenario.events = {{0, 1, 1, 'T'}};
        search.expect_no_fault<RelaxedMemory>(scenario, kernel);
    }
    search.expect_no_fault<RelaxedMemory>(
        {.stages = around_a_segment(), .tokens = {1, 1}, .frames = 2, .emissions = {"ao", "s"}}, kernel);
    const Scenario scenario{.stages = first_and_third(), .tokens = {1, 1}, .frames = 2};
    const Mutation by_store = wrong::bell_hushed_by_store(WordNames(scenario));
    CHECK(ExploredPipeline(scenario, by_store).search<RelaxedMemory>(kernel).fault == "deadlock");
}
