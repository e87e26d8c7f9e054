#include <doctest/doctest.h>

#include "tidemill/run/protocol/internal/protocol_explorer.hpp"

using namespace tidemill::model;

namespace {

std::string text_of(const Scenario& scenario) {
    std::string text = scenario.passive ? "passive" : "active";
    for (const StageShape& stage : scenario.stages) {
        text += fmt::format(" {}{}", stage.threads, stage.ends_segment ? "|" : "");
    }
    text += fmt::format(", {}+{} tokens, {} frames", scenario.tokens[0], scenario.tokens[1], scenario.frames);
    for (const Event& e : scenario.events) {
        text += fmt::format(", {} at {}.{}.{}", e.flow, e.segment, e.stage, e.frame);
    }
    for (const std::string& flows : scenario.emissions) text += " " + flows;
    return text + (scenario.halted_by_user ? ", halted" : "");
}

/// Counts what was searched, and prints it: a search that shrank is no proof any more.
class Search {
  public:
    explicit Search(const char* name) : name_(name) {}
    ~Search() { fmt::print("model: {}: {} scenarios, {} states\n", name_, scenarios_, states_); }

    void expect_no_fault(const Scenario& scenario) {
        const Verdict verdict = explore(scenario);
        ++scenarios_;
        states_ += verdict.states;
        CAPTURE(text_of(scenario));
        if (!verdict.fault.empty()) {
            for (const std::string& line : verdict.trace) fmt::print("  {}\n", line);
        }
        CHECK(verdict.fault == "");
    }

    void expect_fault(Scenario scenario, Mutation mutation, const std::string& fault) {
        CAPTURE(text_of(scenario));
        CHECK(explore(scenario).fault == "");
        scenario.mutation = mutation;
        const Verdict verdict = explore(scenario);
        ++scenarios_;
        states_ += verdict.states;
        CHECK(verdict.fault.find(fault) != std::string::npos);
        if (verdict.fault.find(fault) == std::string::npos) fmt::print("  found: '{}'\n", verdict.fault);
    }

  private:
    const char* name_;
    std::size_t scenarios_ = 0;
    std::size_t states_ = 0;
};

/// All shapes of two stages whose threads together are at most `most`.
std::vector<std::vector<StageShape>> pairs(int most) {
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
    Search search("two stages, active");
    for (const auto& stages : pairs(6)) {
        for (const int tokens : {1, 2, 3, 4}) {
            Scenario plain{.stages = stages, .tokens = {tokens, 1}, .frames = 7, .passive = false};
            search.expect_no_fault(plain);
            plain.frames = stages[0].threads + stages[1].threads > 4 ? 4 : 6;
            plain.halted_by_user = true;
            search.expect_no_fault(plain);
        }
    }
}

TEST_CASE("n threads to m, passive: no interleaving loses a wake-up") {
    Search search("two stages, passive");
    for (const auto& stages : pairs(4)) {
        const int threads = stages[0].threads + stages[1].threads;
        for (const int tokens : {1, 2, 3}) {
            Scenario plain{.stages = stages, .tokens = {tokens, 1}, .frames = threads > 3 ? 3 : 4};
            search.expect_no_fault(plain);
            if (threads > 3 && tokens == 3) continue;
            plain.frames = threads > 3 ? 2 : 4;
            plain.halted_by_user = true;
            search.expect_no_fault(plain);
        }
    }
}

TEST_CASE("three stages, of which the middle one has several threads") {
    Search search("three stages");
    for (const int middle : {1, 2, 3}) {
        for (const int tokens : {1, 2, 3}) {
            search.expect_no_fault({.stages = {{1}, {middle}, {1}}, .tokens = {tokens, 1}, .passive = false});
            search.expect_no_fault({.stages = {{1}, {middle}, {1}},
                                    .tokens = {tokens, 1},
                                    .frames = 5,
                                    .passive = false,
                                    .events = {{0, 1, 2, 'T'}, {0, 1, 1, 'h'}, {0, 2, 3, 'S'}}});
        }
    }
    search.expect_no_fault({.stages = {{1}, {1}, {1}}, .tokens = {2, 1}, .frames = 3});
    search.expect_no_fault({.stages = {{1}, {2}, {1}}, .tokens = {1, 1}, .frames = 2});
    search.expect_no_fault({.stages = {{2}, {1}, {2}}, .tokens = {3, 1}, .frames = 4, .passive = false});
}

TEST_CASE("throws, stops and holes: what came before is delivered, and the sequence's error is told") {
    Search search("failures");
    for (const auto& stages : pairs(6)) {
        for (const int tokens : {1, 2, 3}) {
            for (const std::vector<Event>& events :
                 std::vector<std::vector<Event>>{{{0, 0, 1, 'T'}},
                                                 {{0, 0, 2, 'T'}, {0, 0, 1, 'T'}},
                                                 {{0, 0, 2, 'T'}, {0, 1, 1, 'T'}},
                                                 {{0, 0, 1, 'h'}, {0, 1, 2, 'T'}},
                                                 {{0, 0, 0, 'h'}, {0, 1, 1, 'h'}}}) {
                Scenario scenario{.stages = stages, .tokens = {tokens, 1}, .frames = 4, .passive = false};
                scenario.events = events;
                search.expect_no_fault(scenario);
                scenario.passive = true;
                scenario.frames = 3;
                if (stages[0].threads + stages[1].threads <= 3) search.expect_no_fault(scenario);
            }
        }
    }
}

TEST_CASE(
    "a stop of one thread's task counts against failures behind it, and failures before it against it") {
    Search search("stops");
    for (const int tokens : {1, 2, 3}) {
        for (const bool passive : {false, true}) {
            Scenario scenario{.stages = {{1}, {1}}, .tokens = {tokens, 1}, .frames = 5, .passive = passive};
            for (const int frame : {0, 1, 2, 3}) {
                scenario.events = {{0, 1, 1, 'S'}, {0, 0, frame, 'T'}};
                search.expect_no_fault(scenario);
                scenario.events = {{0, 1, 1, 'T'}, {0, 0, frame, 'S'}};
                search.expect_no_fault(scenario);
            }
        }
    }
}

TEST_CASE("two segments: skips and repeats renumber frames, and every token of both rings comes home") {
    Search search("two segments");
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
            for (const int tokens : {1, 2, 3}) {
                Scenario scenario{.stages = stages, .tokens = {tokens, 4 - tokens}, .passive = false};
                scenario.emissions = emissions;
                search.expect_no_fault(scenario);
                scenario.halted_by_user = true;
                search.expect_no_fault(scenario);
                scenario.passive = stages.size() < 3;
                scenario.frames = scenario.passive && stages[1].threads > 2 ? 2 : 3;
                scenario.halted_by_user = false;
                search.expect_no_fault(scenario);
            }
        }
    }
    search.expect_no_fault({.stages = {{1}, {1, true}, {1}}, .tokens = {2, 2}, .emissions = flows[1]});
    search.expect_no_fault({.stages = {{1}, {1, true}, {1}}, .tokens = {1, 1}, .emissions = flows[3]});
}

TEST_CASE("two segments: errors and stops on either side, and in the task between") {
    Search search("failures in two segments");
    for (const std::vector<StageShape>& stages :
         std::vector<std::vector<StageShape>>{{{1}, {1, true}, {1}}, {{2}, {1, true}, {2}}}) {
        for (const int tokens : {1, 2}) {
            Scenario scenario{.stages = stages, .tokens = {tokens, tokens}, .passive = false};
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

TEST_CASE("every wrong turn is caught") {
    Search search("mutations");
    const Scenario passive{.stages = {{1}, {1}}, .tokens = {2, 1}, .frames = 3};
    Scenario halted = passive;
    halted.halted_by_user = true;
    Scenario active = passive;
    active.passive = false;
    Scenario wide{.stages = {{2}, {2}}, .tokens = {2, 1}, .frames = 5, .passive = false};
    wide.halted_by_user = true;
    Scenario segments{.stages = {{1, true}, {1}}, .tokens = {1, 2}, .frames = 3};
    segments.emissions = {"ao", "s", "as"};

    search.expect_fault(passive, Mutation::wake_check_before_store, "deadlock");
    search.expect_fault(passive, Mutation::sleep_without_compare, "deadlock");
    search.expect_fault(passive, Mutation::no_wake, "deadlock");
    search.expect_fault(halted, Mutation::no_nudge, "deadlock");
    search.expect_fault(halted, Mutation::no_wake_on_close, "deadlock");
    search.expect_fault(halted, Mutation::nudge_before_end, "deadlock");
    search.expect_fault(wide, Mutation::end_is_next_frame, "did not come home");
    search.expect_fault(wide, Mutation::end_is_one_ring_on, "did not come home");
    search.expect_fault(wide, Mutation::frames_not_claimed, "did not come home");
    search.expect_fault(active, Mutation::end_not_checked_after_take, "did not come home");
    search.expect_fault(active, Mutation::next_frame_gets_token, "deadlock");
    search.expect_fault(active, Mutation::pass_before_work, "two threads hold one token");
    search.expect_fault(segments, Mutation::next_segment_not_closed, "deadlock");
    search.expect_fault(segments, Mutation::skipped_token_passed_on, "another's data");

    Scenario failing = active;
    failing.events = {{0, 0, 1, 'T'}};
    search.expect_fault(failing, Mutation::limit_not_lowered, "not to be delivered");
    failing.events = {{0, 0, 2, 'T'}, {0, 1, 1, 'S'}};
    search.expect_fault(failing, Mutation::later_stop_forgotten, "otherwise than the sequence");
    failing.events = {{0, 0, 2, 'T'}, {0, 1, 1, 'T'}};
    search.expect_fault(failing, Mutation::first_failure_told, "otherwise than the sequence");
}
