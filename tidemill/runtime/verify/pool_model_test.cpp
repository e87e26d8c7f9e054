#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/runtime/verify/testing/pool_search.hpp"
#include "tidemill/runtime/verify/testing/wrong_wakes.hpp"

using namespace tidemill;
using namespace tidemill::explore;

namespace {

// A timed sleep may be over at any moment, or never: what is mended only by that counts as a deadlock.
constexpr Settings kTimed{.wakes_by_itself = true, .wakes_are_seen = true};

// A sanitizer looks at the explorer, not at what is explored: for it, small scenarios do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAll = false;
#else
constexpr bool kAll = true;
#endif

const std::vector<PoolTask> kPair{{}, {}};
const std::vector<PoolTask> kChain{{}, {0b1}};
const std::vector<PoolTask> kFork{{}, {0b1}, {0b1}};
const std::vector<PoolTask> kJoin{{}, {}, {0b11}};

std::string text_of(const PoolScenario& scenario) {
    static constexpr const char* kWaiting[] = {"passive", "active", "mixed"};
    static constexpr const char* kProgram[] = {"no program", "a visitor", "a helper"};
    std::string text = fmt::format("{}, {}, {} workers, bundles of {}, waits behind {:#b}, tasks behind",
                                   kWaiting[static_cast<std::size_t>(scenario.waiting)],
                                   kProgram[static_cast<std::size_t>(scenario.program)], scenario.workers(),
                                   scenario.bundle_tasks, scenario.waits_behind);
    for (const PoolTask& task : scenario.tasks) text += fmt::format(" {:#b}", task.before);
    return text + (scenario.left_to_program ? ", left to the program" : "") +
           (scenario.placed ? ", placed" : "");
}

/// Counts what was searched, and prints it: a search that shrank is no proof any more.
class PoolSearches {
  public:
    explicit PoolSearches(const char* name) : name_(name) {}
    ~PoolSearches() {
        fmt::print("explorer: pool, {}: {} scenarios, {} states\n", name_, scenarios_, states_);
    }

    template <typename Memory = SequentialMemory>
    void expect_no_fault(const PoolScenario& scenario) {
        CAPTURE(text_of(scenario));
        const Verdict verdict = count(PoolSearch(scenario).search<Memory>(settings_for<Memory>()));
        for (const std::string& line : verdict.trace) fmt::print("  {}\n", line);
        CHECK(verdict.fault == "");
    }

    template <typename Memory>
    void sample(const PoolScenario& scenario, std::uint64_t seed) {
        CAPTURE(seed);
        CAPTURE(text_of(scenario));
        const Verdict verdict = count(PoolSearch(scenario).sample<Memory>(seed, 20, kTimed));
        for (const std::string& line : verdict.trace) fmt::print("  {}\n", line);
        CHECK(verdict.fault == "");
    }

    template <typename Memory = SequentialMemory>
    void expect_fault(const PoolScenario& scenario, const Mutation& mutation, const std::string& fault) {
        CAPTURE(text_of(scenario));
        const Verdict verdict = count(PoolSearch(scenario, mutation).search<Memory>(settings_for<Memory>()));
        CAPTURE(verdict.fault);
        CHECK(verdict.fault.find(fault) != std::string::npos);
    }

  private:
    // In relaxed memory, each sleep that is over adds stores which sleeping threads may still read: no end.
    template <typename Memory>
    static Settings settings_for() {
        return {.wakes_by_itself = Memory::kSeesLatest, .wakes_are_seen = true};
    }

    const Verdict& count(const Verdict& verdict) {
        ++scenarios_;
        states_ += verdict.states;
        return verdict;
    }

    const char* name_;
    std::size_t scenarios_ = 0;
    std::size_t states_ = 0;
};

}  // namespace

TEST_CASE("two workers of a pool run each task once and in order, and none sleeps beside ready work") {
    PoolSearches search("no program");
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::mixed, WaitMode::active}) {
        for (const auto& tasks : {kPair, kChain, kFork, kJoin}) {
            for (const std::uint64_t bundle : {0, 2}) {
                search.expect_no_fault(
                    {.tasks = tasks, .program = Program::none, .bundle_tasks = bundle, .waiting = waiting});
            }
        }
    }
}

TEST_CASE("a program that waits at the pool's board goes on when its tasks are done, and all leave") {
    PoolSearches search("with a program");
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::mixed, WaitMode::active}) {
        for (const Program program : {Program::visits, Program::helps}) {
            if (!kAll && program == Program::visits) continue;
            for (const auto& tasks : {kPair, kChain}) {
                PoolScenario scenario{.tasks = tasks, .program = program, .waiting = waiting};
                search.expect_no_fault(scenario);
                scenario.waits_behind = 1;
                search.expect_no_fault(scenario);
            }
        }
    }
    for (const auto& tasks : {kFork, kJoin}) {
        if (kAll) search.expect_no_fault({.tasks = tasks});
        if (kAll) search.expect_no_fault({.tasks = tasks, .bundle_tasks = 2});
        search.expect_no_fault({.tasks = tasks, .program = Program::helps});
        search.expect_no_fault({.tasks = tasks, .program = Program::helps, .left_to_program = true});
    }
}

TEST_CASE("tasks for one kind of core are run by its worker, whoever makes them ready") {
    PoolSearches search("kinds");
    const std::vector<PoolTask> apart{{0, 0b01}, {0b1, 0b10}, {0b10, 0b01}};
    search.expect_no_fault({.tasks = apart, .kinds = {0, 1}, .program = Program::none});
    search.expect_no_fault({.tasks = apart, .kinds = {0, 1}});
    search.expect_no_fault({.tasks = apart, .kinds = {0, 1}, .program = Program::none, .bundle_tasks = 3});
}

TEST_CASE("a worker that must wait before it gets a task keeps nobody from running it") {
    PoolSearches search("placed");
    for (const WaitMode waiting : {WaitMode::passive, WaitMode::mixed, WaitMode::active}) {
        for (const auto& tasks : {kPair, kFork, kJoin}) {
            search.expect_no_fault({.tasks = tasks,
                                    .kinds = {0, 1},
                                    .program = Program::none,
                                    .placed = true,
                                    .waiting = waiting});
        }
    }
    search.expect_no_fault({.tasks = kPair, .kinds = {0, 1}, .placed = true});
}

TEST_CASE("one worker, and three, share the board with the program") {
    PoolSearches search("other numbers of workers");
    search.expect_no_fault({.tasks = kJoin, .kinds = {0}});
    if (kAll) search.expect_no_fault({.tasks = kPair, .kinds = {0, 0, 0}, .program = Program::none});
}

TEST_CASE("memory as C++ promises it: what guards the board orders all that is done to it, and the tasks") {
    PoolSearches search("relaxed memory");
    for (const auto& tasks : {kPair, kChain}) {
        search.expect_no_fault<RelaxedMemory>({.tasks = tasks, .program = Program::none});
        search.expect_no_fault<RelaxedMemory>({.tasks = tasks, .kinds = {0}});
        search.expect_no_fault<RelaxedMemory>({.tasks = tasks, .program = Program::helps});
    }
}

TEST_CASE("tasks of one frame on several workers: what one says of the frame reaches those behind it") {
    PoolSearches search("shared marks");
    for (const auto& tasks : {kPair, kChain, kFork, kJoin}) {
        search.expect_no_fault({.tasks = tasks, .program = Program::none, .marks = true});
        if (kAll)
            search.expect_no_fault(
                {.tasks = tasks, .program = Program::none, .bundle_tasks = 2, .marks = true});
    }
    search.expect_no_fault<RelaxedMemory>({.tasks = kPair, .program = Program::none, .marks = true});
    search.expect_no_fault<RelaxedMemory>({.tasks = kChain, .program = Program::none, .marks = true});
    search.expect_fault<RelaxedMemory>(
        {.tasks = kPair, .program = Program::none, .marks = true, .marks_alone = true}, {}, "data race");
}

TEST_CASE("every wrong turn of the pool is caught") {
    PoolSearches search("wrong turns");
    const PoolScenario none{.tasks = kFork, .program = Program::none};
    const PoolScenario visits{.tasks = kPair, .waits_behind = 1};
    const PoolWords words(visits);
    PoolScenario wrong = visits;

    search.expect_fault(visits, wrong::ring_without_wake(), "deadlock");
    search.expect_fault(visits, wrong::asleep_in_any_case(words), "deadlock");
    search.expect_fault(visits, wrong::sleep_without_compare(), "deadlock");
    search.expect_fault(visits, wrong::reset_after_look(words), "deadlock");
    search.expect_fault(visits, wrong::others_not_rung(words), "deadlock");
    search.expect_fault(none, wrong::others_not_rung(PoolWords(none)), "deadlock");
    search.expect_fault(visits, wrong::lock_in_two_steps(words), "deadlock");
    wrong.wakes_nobody = true;
    search.expect_fault(wrong, {}, "deadlock");
    wrong = visits;
    wrong.forgets_program = true;
    search.expect_fault(wrong, {}, "deadlock");
}

TEST_CASE("a lock of the pool that is left out, or weaker than it must be, is caught") {
    PoolSearches search("weaker orders");
    const PoolScenario visits{.tasks = kPair, .kinds = {0}};
    const PoolWords words(visits);
    search.expect_fault<RelaxedMemory>(visits, wrong::without_lock(words, 1), "data race");
    search.expect_fault<RelaxedMemory>(
        visits,
        wrong::weaker([=](const Operation& o) { return wrong::unlocks(words, o); },
                      std::memory_order_relaxed),
        "data race");
    search.expect_fault<RelaxedMemory>(
        visits,
        wrong::weaker([=](const Operation& o) { return o.act == Act::swap && words.is_lock(o.at); },
                      std::memory_order_relaxed),
        "data race");
}

TEST_CASE("pools too large to go through, by chance: TIDEMILL_RANDOM_SEED=n repeats one seed") {
    const char* told = std::getenv("TIDEMILL_RANDOM_SEED");
    const std::uint64_t first = told ? std::strtoull(told, nullptr, 10) : 1;
    const std::uint64_t last = told ? first : 5;
    PoolSearches search("by chance");
    const std::vector<PoolTask> tasks{{}, {}, {0b1}, {0b11}, {}, {0b100}, {0b1000}, {0b110000}};
    for (const Program program : {Program::none, Program::visits, Program::helps}) {
        for (const std::uint64_t bundle : {0, 3}) {
            for (const WaitMode waiting : {WaitMode::passive, WaitMode::active, WaitMode::mixed}) {
                PoolScenario scenario{.tasks = tasks, .kinds = {0, 0, 0, 0}, .program = program};
                scenario.waits_behind = 0b1000;
                scenario.bundle_tasks = bundle;
                scenario.waiting = waiting;
                scenario.left_to_program = program == Program::helps && bundle > 0;
                for (std::uint64_t seed = first; seed <= last; ++seed) {
                    search.sample<SequentialMemory>(scenario, seed);
                    search.sample<RelaxedMemory>(scenario, seed);
                }
            }
        }
    }
}
