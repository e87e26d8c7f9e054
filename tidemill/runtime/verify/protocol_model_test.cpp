#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/verify/testing/explored_search.hpp"
#include "tidemill/runtime/verify/testing/wrong_turns.hpp"

using namespace tidemill;
using namespace tidemill::explore;

namespace {

// A sanitizer looks at the explorer, not at what is explored: for it, smaller pipelines do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMostThreadsOfAPair = 3;
#else
constexpr int kMostThreadsOfAPair = 6;
#endif

/// All shapes of two stages whose threads together are at most `most`.
std::vector<std::vector<StageShape>> pairs(int most) {
    most = std::min(most, kMostThreadsOfAPair);
    std::vector<std::vector<StageShape>> shapes;
    for (int n = 1; n <= 3; ++n) {
        for (int m = 1; m <= 3; ++m) {
            if (n + m <= most) shapes.push_back({{n}, {m}});
        }
    }
    return shapes;
}

}  // namespace

TEST_CASE("n threads to m, active: no interleaving loses, doubles or reorders a frame, down to one token") {
    Searches search("two stages, active");
    for (const auto& stages : pairs(6)) {
        for (const std::uint32_t tokens : {1, 2, 3, 4}) {
            Scenario plain{.stages = stages, .tokens = {tokens, 1}, .frames = 7, .waiting = WaitMode::active};
            search.expect_no_fault(plain);
            plain.frames = stages[0].threads + stages[1].threads > 4 ? 4 : 6;
            plain.halted_by_user = true;
            search.expect_no_fault(plain);
        }
    }
}

TEST_CASE("n threads to m, passive: no interleaving loses a wake-up") {
    Searches search("two stages, passive");
    for (const auto& stages : pairs(4)) {
        const int threads = stages[0].threads + stages[1].threads;
        for (const std::uint32_t tokens : {1, 2, 3}) {
            Scenario plain{.stages = stages, .tokens = {tokens, 1}, .frames = threads > 3 ? 3u : 4u};
            search.expect_no_fault(plain);
            if (threads > 3 && tokens == 3) continue;
            plain.frames = threads > 3 ? 2 : 4;
            plain.halted_by_user = true;
            search.expect_no_fault(plain);
        }
    }
}

// Words of two threads, and one of three. A round is no multiple of the tokens, nor of the threads.
const std::vector<StageShape>& by_words() {
    static const std::vector<StageShape> shapes{
        {2, false, {0, 0, 1}}, {2, false, {0, 1, 1}}, {2, false, {0, 1, 0, 0}}, {3, false, {0, 1, 0, 2}}};
    return shapes;
}

TEST_CASE("threads that go by a word, before, behind and beside others: nothing is lost, down to one token") {
    Searches search("by words");
    for (const StageShape& word : by_words()) {
        for (const StageShape& other : std::vector<StageShape>{{1}, {2}, {2, false, {0, 1, 0}}}) {
            const int threads = word.threads + other.threads;
            for (const std::uint32_t tokens : {1, 2, 3, 4}) {
                for (const bool is_first : {true, false}) {
                    Scenario active{.stages = {is_first ? word : other, is_first ? other : word},
                                    .tokens = {tokens, 1},
                                    .frames = threads > 4 ? 5u : 7u,
                                    .waiting = WaitMode::active};
                    search.expect_no_fault(active);
                    active.frames = threads > 4 ? 4 : 5;
                    active.halted_by_user = true;
                    search.expect_no_fault(active);
                    active.halted_by_user = false;
                    active.events = {{0, 0, 3, 'T'}, {0, 1, 2, 'T'}, {0, 0, 1, 'h'}};
                    search.expect_no_fault(active);
                    if (threads > 3 || tokens > 2) continue;
                    Scenario passive{.stages = active.stages, .tokens = {tokens, 1}, .frames = 4};
                    search.expect_no_fault(passive);
                    passive.halted_by_user = true;
                    search.expect_no_fault(passive);
                }
            }
        }
    }
}

TEST_CASE("threads that go by a word behind a segment's end, and behind frames that are dropped") {
    Searches search("by words, elsewhere");
    for (const StageShape& word : by_words()) {
        for (const std::uint32_t tokens : {1, 2, 3}) {
            Scenario segments{.stages = {word, {1, true}, word.threads < 3 ? word : StageShape{1}},
                              .tokens = {tokens, 4 - tokens},
                              .frames = 4,
                              .waiting = WaitMode::active};
            segments.emissions = {"ao", "s", "aao", "o"};
            search.expect_no_fault(segments);
            Scenario late{
                .stages = {{1}, word}, .tokens = {tokens, 1}, .frames = 5, .waiting = WaitMode::active};
            for (const Late way : {Late::drop_newest, Late::drop_oldest}) {
                late.late = way;
                search.expect_no_fault(late);
            }
            search.expect_no_fault<RelaxedMemory>({.stages = {{1}, by_words()[0]},
                                                   .tokens = {tokens, 1},
                                                   .frames = 3,
                                                   .waiting = WaitMode::active});
        }
    }
}

TEST_CASE("a thread that goes in turn where its stage has a word is caught") {
    Searches search("word forgotten");
    Scenario scenario{
        .stages = {{1}, {2, false, {0, 0, 1}}}, .tokens = {3, 1}, .frames = 7, .waiting = WaitMode::active};
    search.expect_no_fault(scenario);
    scenario.stages[1].forgets_word = true;
    search.expect_caught(scenario);
    std::swap(scenario.stages[0], scenario.stages[1]);
    search.expect_caught(scenario);
}

TEST_CASE("three stages, of which the middle one has several threads") {
    Searches search("three stages");
    for (const int middle : {1, 2, 3}) {
        for (const std::uint32_t tokens : {1, 2, 3}) {
            search.expect_no_fault(
                {.stages = {{1}, {middle}, {1}}, .tokens = {tokens, 1}, .waiting = WaitMode::active});
            search.expect_no_fault({.stages = {{1}, {middle}, {1}},
                                    .tokens = {tokens, 1},
                                    .frames = 5,
                                    .waiting = WaitMode::active,
                                    .events = {{0, 1, 2, 'T'}, {0, 1, 1, 'h'}, {0, 2, 3, 'S'}}});
        }
    }
    search.expect_no_fault({.stages = {{1}, {1}, {1}}, .tokens = {2, 1}, .frames = 3});
    search.expect_no_fault({.stages = {{1}, {2}, {1}}, .tokens = {1, 1}, .frames = 2});
    search.expect_no_fault(
        {.stages = {{2}, {1}, {2}}, .tokens = {3, 1}, .frames = 4, .waiting = WaitMode::active});
}

TEST_CASE("throws, stops and holes: what came before is delivered, and the sequence's error is told") {
    Searches search("failures");
    for (const auto& stages : pairs(6)) {
        for (const std::uint32_t tokens : {1, 2, 3}) {
            for (const std::vector<Event>& events :
                 std::vector<std::vector<Event>>{{{0, 0, 1, 'T'}},
                                                 {{0, 0, 2, 'T'}, {0, 0, 1, 'T'}},
                                                 {{0, 0, 2, 'T'}, {0, 1, 1, 'T'}},
                                                 {{0, 0, 1, 'h'}, {0, 1, 2, 'T'}},
                                                 {{0, 0, 0, 'h'}, {0, 1, 1, 'h'}}}) {
                Scenario scenario{
                    .stages = stages, .tokens = {tokens, 1}, .frames = 4, .waiting = WaitMode::active};
                scenario.events = events;
                search.expect_no_fault(scenario);
                scenario.waiting = WaitMode::passive;
                scenario.frames = 3;
                if (stages[0].threads + stages[1].threads <= 3) search.expect_no_fault(scenario);
            }
        }
    }
}

TEST_CASE(
    "a stop of one thread's task counts against failures behind it, and failures before it against it") {
    Searches search("stops");
    for (const std::uint32_t tokens : {1, 2, 3}) {
        for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
            Scenario scenario{.stages = {{1}, {1}}, .tokens = {tokens, 1}, .frames = 5, .waiting = waiting};
            for (const std::uint64_t frame : {0, 1, 2, 3}) {
                scenario.events = {{0, 1, 1, 'S'}, {0, 0, frame, 'T'}};
                search.expect_no_fault(scenario);
                scenario.events = {{0, 1, 1, 'T'}, {0, 0, frame, 'S'}};
                search.expect_no_fault(scenario);
            }
        }
    }
}

TEST_CASE("two segments: skips and repeats renumber frames, and every token of both rings comes home") {
    Searches search("two segments");
    const std::vector<std::vector<std::string>> flows = {
        {"o", "o", "o"}, {"ao", "s", "as"}, {"s", "s", "s"}, {"s", "aao", "o"}};
    for (const auto& emissions : flows) {
        for (const std::vector<StageShape>& stages :
             std::vector<std::vector<StageShape>>{{{1, true}, {1}},
                                                  {{1}, {1, true}},
                                                  {{1}, {1, true}, {1}},
                                                  {{1, true}, {3}},
                                                  {{2}, {1, true}, {2}},
                                                  {{1, true}, {2}, {1}}}) {
            for (const std::uint32_t tokens : {1, 2, 3}) {
                Scenario scenario{
                    .stages = stages, .tokens = {tokens, 4 - tokens}, .waiting = WaitMode::active};
                scenario.emissions = emissions;
                search.expect_no_fault(scenario);
                scenario.halted_by_user = true;
                search.expect_no_fault(scenario);
                const bool sleeps = stages.size() < 3;
                if (sleeps) scenario.waiting = WaitMode::passive;
                scenario.frames = sleeps && stages[1].threads > 2 ? 2 : 3;
                scenario.halted_by_user = false;
                search.expect_no_fault(scenario);
            }
        }
    }
    search.expect_no_fault({.stages = {{1}, {1, true}, {1}}, .tokens = {2, 2}, .emissions = flows[1]});
    search.expect_no_fault({.stages = {{1}, {1, true}, {1}}, .tokens = {1, 1}, .emissions = flows[3]});
}

TEST_CASE("two segments: errors and stops on either side, and in the task between") {
    Searches search("failures in two segments");
    for (const std::vector<StageShape>& stages :
         std::vector<std::vector<StageShape>>{{{1}, {1, true}, {1}}, {{2}, {1, true}, {2}}}) {
        for (const std::uint32_t tokens : {1, 2}) {
            Scenario scenario{.stages = stages, .tokens = {tokens, tokens}, .waiting = WaitMode::active};
            for (const char* last : {"aT", "S", "aaS", "T"}) {
                scenario.emissions = {"ao", "as", last};
                scenario.events = {};
                search.expect_no_fault(scenario);
                scenario.events = {{1, 1, 2, 'T'}};
                search.expect_no_fault(scenario);
                scenario.events = {{1, 1, 1, 'T'}, {1, 1, 2, 'T'}, {0, 0, 1, 'T'}};
                search.expect_no_fault(scenario);
            }
        }
    }
    search.expect_no_fault({.stages = {{1, true}, {1}},
                            .tokens = {1, 2},
                            .frames = 3,
                            .events = {{1, 1, 1, 'T'}},
                            .emissions = {"ao", "as", "S"}});
}

TEST_CASE("late frames: each is delivered or dropped, in order, and what waits is dropped before it begins") {
    Searches search("late frames");
    for (const Late late : {Late::drop_newest, Late::drop_oldest}) {
        for (const std::vector<StageShape>& stages : std::vector<std::vector<StageShape>>{
                 {{1}, {1}}, {{1}, {2}}, {{1}, {1}, {1}}, {{1}, {1, true}, {1}}}) {
            for (const std::uint32_t tokens : {1, 2, 3}) {
                Scenario scenario{
                    .stages = stages, .tokens = {tokens, 2}, .frames = 4, .waiting = WaitMode::active};
                scenario.late = late;
                if (stages.back().threads == 1 && stages.size() == 3)
                    scenario.emissions = {"ao", "s", "o", "o"};
                search.expect_no_fault(scenario);
                scenario.events = {{0, 0, 2, 'T'}, {0, 1, 1, 'T'}};
                search.expect_no_fault(scenario);
                scenario.events = {{0, 0, 3, 'S'}, {0, 1, 1, 'h'}};
                search.expect_no_fault(scenario);
                scenario.events = {};
                if (stages.size() < 3) scenario.waiting = WaitMode::passive;
                scenario.frames = 3;
                search.expect_no_fault(scenario);
                scenario.halted_by_user = true;
                search.expect_no_fault(scenario);
            }
        }
        for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
            Scenario relaxed{.stages = {{1}, {1}}, .tokens = {2, 1}, .frames = 4, .waiting = waiting};
            relaxed.late = late;
            search.expect_no_fault<RelaxedMemory>(relaxed);
        }
    }
}

TEST_CASE("every wrong turn at late frames is caught") {
    Searches search("wrong turns at late frames");
    Scenario late{.stages = {{1}, {1}}, .tokens = {3, 1}, .frames = 5, .waiting = WaitMode::active};
    late.late = Late::drop_oldest;
    const WordNames words(late);
    search.expect_fault(late, wrong::replaced_frame_not_claimed(words), "lost");
    search.expect_fault(late, wrong::claimed_frame_replaced(words), "lost");
    const auto frees = [words](const Operation& o) { return o.act == Act::store && words.is_claim(o.at); };
    const auto claims = [words](const Operation& o) {
        return o.act == Act::exchange && words.is_claim(o.at) && o.order == std::memory_order_acquire;
    };
    search.expect_fault<RelaxedMemory>(late, wrong::weaker(frees, std::memory_order_relaxed), "data race");
    search.expect_fault<RelaxedMemory>(late, wrong::weaker(claims, std::memory_order_relaxed), "data race");
}

TEST_CASE("every wrong turn is caught") {
    Searches search("wrong turns");
    const Scenario passive{.stages = {{1}, {1}}, .tokens = {2, 1}, .frames = 3};
    Scenario halted = passive;
    halted.halted_by_user = true;
    Scenario active = passive;
    active.waiting = WaitMode::active;
    Scenario wide{.stages = {{2}, {2}}, .tokens = {2, 1}, .frames = 5, .waiting = WaitMode::active};
    wide.halted_by_user = true;
    Scenario segments{.stages = {{1, true}, {1}}, .tokens = {1, 2}, .frames = 3};
    segments.emissions = {"ao", "s", "as"};
    const WordNames words(passive);

    search.expect_fault(passive, wrong::sleepers_looked_for_first(words), "deadlock");
    search.expect_fault(passive, wrong::sleep_without_compare(), "deadlock");
    search.expect_fault(passive, wrong::no_wake_after(Act::store), "deadlock");
    search.expect_fault(halted, wrong::no_nudge(), "deadlock");
    search.expect_fault(halted, wrong::no_wake_after(Act::flip), "deadlock");
    search.expect_fault(halted, wrong::nudge_before_end(words), "deadlock");
    search.expect_fault(wide, wrong::end_is_next_frame(2), "did not come home");
    search.expect_fault(wide, wrong::end_is_next_frame(2, wide.tokens[0]), "did not come home");
    search.expect_fault(wide, wrong::frames_not_claimed(), "did not come home");
    search.expect_fault(active, wrong::end_not_checked_after_take(words, 2), "did not come home");
    search.expect_fault(active, wrong::next_frame_gets_token(words, 2, 2), "deadlock");
    search.expect_fault(active, wrong::pass_before_work(words, 2, 2), "two threads hold one token");
    search.expect_fault(segments, wrong::next_segment_not_closed(WordNames(segments)), "deadlock");
    segments.emits_skipped = true;
    search.expect_fault(segments, {}, "another's data");

    Scenario failing = active;
    failing.events = {{0, 0, 1, 'T'}};
    search.expect_fault(failing, wrong::limit_not_lowered(words), "not to be delivered");
    failing.events = {{0, 0, 2, 'T'}, {0, 1, 1, 'S'}};
    search.expect_fault(failing, wrong::later_stop_forgotten(), "otherwise than the sequence");
    failing.events = {{0, 0, 2, 'T'}, {0, 1, 1, 'T'}};
    search.expect_fault(failing, wrong::first_failure_told(), "otherwise than the sequence");
}

TEST_CASE("mixed waiting, and sleepers that wake though nobody has woken them") {
    Searches search("mixed and spurious");
    for (const auto& stages : pairs(3)) {
        for (const std::uint32_t tokens : {1, 2}) {
            for (const WaitMode waiting : {WaitMode::passive, WaitMode::mixed}) {
                Scenario scenario{.stages = stages, .tokens = {tokens, 1}, .frames = 3, .waiting = waiting};
                search.expect_no_fault(scenario, {.wakes_by_itself = true});
                scenario.halted_by_user = true;
                scenario.frames = 2;
                search.expect_no_fault(scenario, {.wakes_by_itself = true});
            }
        }
    }
}

TEST_CASE("a look at what was just seen finds nothing more where it is a move of its own") {
    Searches search("every look");
    for (const auto& stages : pairs(3)) {
        for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
            Scenario scenario{.stages = stages, .tokens = {2, 1}, .frames = 2, .waiting = waiting};
            search.expect_no_fault(scenario, {.looks_again = true});
            scenario.halted_by_user = true;
            search.expect_no_fault(scenario, {.looks_again = true});
        }
    }
}

TEST_CASE("memory as C++ promises it and no more: nothing is lost, and nobody touches what another may") {
    Searches search("relaxed memory");
    for (const WaitMode waiting : {WaitMode::active, WaitMode::passive}) {
        for (const std::uint32_t tokens : {1, 2}) {
            Scenario scenario{.stages = {{1}, {1}}, .tokens = {tokens, 1}, .waiting = waiting};
            search.expect_no_fault<RelaxedMemory>(scenario);
            scenario.events = {{0, 0, 2, 'T'}, {0, 1, 1, 'T'}};
            search.expect_no_fault<RelaxedMemory>(scenario);
            scenario.events = {};
            scenario.frames = 2;
            scenario.halted_by_user = true;
            search.expect_no_fault<RelaxedMemory>(scenario);
        }
        search.expect_no_fault<RelaxedMemory>({.stages = {{1, true}, {1}},
                                               .tokens = {1, 2},
                                               .frames = 2,
                                               .waiting = waiting,
                                               .emissions = {"ao", "s"}});
    }
    for (const auto& stages : pairs(3)) {
        search.expect_no_fault<RelaxedMemory>(
            {.stages = stages, .tokens = {2, 1}, .frames = 2, .waiting = WaitMode::active});
    }
}

TEST_CASE("every memory order that is weaker than it must be is caught") {
    Searches search("weaker orders");
    const Scenario passive{.stages = {{1}, {1}}, .tokens = {1, 1}, .frames = 2};
    Scenario halted = passive;
    halted.halted_by_user = true;
    Scenario active = passive;
    active.waiting = WaitMode::active;
    const WordNames words(passive);
    const auto expect = [&](const Scenario& scenario, auto is_meant, std::memory_order order,
                            const char* fault) {
        search.expect_fault<RelaxedMemory>(scenario, wrong::weaker(is_meant, order), fault);
    };
    const auto strong = [](const Operation& o, Act act) {
        return o.act == act && o.order == std::memory_order_seq_cst;
    };

    SUBCASE("pass() stores the turn and looks for sleepers") {
        expect(
            passive, [=](const Operation& o) { return wrong::hands_over(words, o); },
            std::memory_order_release, "deadlock");
    }
    SUBCASE("pass() looks for sleepers in another order than it stores the turn") {
        expect(
            passive, [=](const Operation& o) { return wrong::looks_for_sleepers(words, o); },
            std::memory_order_acquire, "deadlock");
    }
    SUBCASE("sleep() counts the sleeper") {
        expect(
            passive, [=](const Operation& o) { return strong(o, Act::add); }, std::memory_order_acq_rel,
            "deadlock");
    }
    SUBCASE("sleep() looks at the turn and the end") {
        expect(
            halted, [=](const Operation& o) { return strong(o, Act::load); }, std::memory_order_relaxed,
            "deadlock");
    }
    SUBCASE("close() lowers the end and flips the turn") {
        expect(
            halted, [=](const Operation& o) { return wrong::lowers_end(words, o) || o.act == Act::flip; },
            std::memory_order_relaxed, "deadlock");
    }
    SUBCASE("close() flips the turn") {
        expect(
            halted, [=](const Operation& o) { return o.act == Act::flip; }, std::memory_order_acq_rel,
            "deadlock");
    }
    SUBCASE("a turn is handed over without release") {
        expect(
            active, [=](const Operation& o) { return wrong::hands_over(words, o); },
            std::memory_order_relaxed, "data race");
    }
    SUBCASE("a turn is taken without acquire") {
        expect(
            active, [=](const Operation& o) { return o.act == Act::load && words.is_turn(o.at); },
            std::memory_order_relaxed, "data race");
    }
}

TEST_CASE("pipelines too large to go through, by chance: TIDEMILL_RANDOM_SEED=n repeats one seed") {
    const char* told = std::getenv("TIDEMILL_RANDOM_SEED");
    const std::uint64_t first = told ? std::strtoull(told, nullptr, 10) : 1;
    const std::uint64_t last = told ? first : 5;
    fmt::print("explorer: by chance: seeds {} to {}\n", first, last);
    Searches search("by chance");
    for (const WaitMode waiting : {WaitMode::active, WaitMode::passive, WaitMode::mixed}) {
        Scenario wide{.stages = {{2}, {3}, {2}}, .tokens = {4, 1}, .frames = 20, .waiting = waiting};
        wide.halted_by_user = true;
        Scenario failing = wide;
        failing.events = {{0, 0, 9, 'T'}, {0, 0, 7, 'h'}, {0, 1, 7, 'T'}};
        Scenario segments{
            .stages = {{2}, {1, true}, {3}, {1}}, .tokens = {3, 4}, .frames = 9, .waiting = waiting};
        segments.emissions = {"aao", "s", "o", "as", "aaao", "s", "o", "s", "o"};
        segments.events = {{1, 2, 6, 'S'}};
        for (const Scenario& scenario : {wide, failing, segments}) {
            for (std::uint64_t seed = first; seed <= last; ++seed) {
                search.sample<SequentialMemory>(scenario, seed);
                search.sample<RelaxedMemory>(scenario, seed);
            }
        }
    }
}
