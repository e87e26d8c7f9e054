#include "tidemill/steer/learning.hpp"

#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include "tidemill/steer/daemon.hpp"
#include "tidemill/steer/testing/fake_system.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::steer {
namespace {

using bridge::Quality;
using testing::FakeCounters;
using testing::FakeSystem;
using testing::FakeThread;

/// One big and one little core, counters, and a daemon that knows nothing at first.
struct Machine {
    FakeSystem system{{0, 1}};
    FakeCounters counters{system};
    ScratchFolder folder{};
    std::optional<Daemon> daemon{};

    FakeThread& start(const char* name, double factor) {
        FakeThread& thread = system.start(name);
        thread.factor_on_1 = factor;
        return thread;
    }
    void begin(KnownFactors known = {}) {
        daemon.emplace(
            system, std::vector<CpuKind>{{"big", {{0}}}, {"little", {{1}}}}, Target{},
            DaemonOptions{
                .journal = folder / "journal.json", .known = std::move(known), .counters = &counters});
    }
    void run(double seconds) {
        for (double passed = 0; passed < seconds; passed += 0.1) {
            system.pass(0.1);
            daemon->tick();
        }
    }
    const ThreadReport report_of(const FakeThread& thread) const {
        const Report report = daemon->report();
        return *std::ranges::find(report.active, thread.number, &ThreadReport::thread);
    }
};

}  // namespace

TEST_CASE("learning: factors of threads come from their counters on each kind, and steer them") {
    for (const bool compute_first : {true, false}) {
        CAPTURE(compute_first);
        Machine machine;
        FakeThread& one = machine.start(compute_first ? "compute" : "memory", compute_first ? 3 : 1.2);
        FakeThread& other = machine.start(compute_first ? "memory" : "compute", compute_first ? 1.2 : 3);
        machine.begin();
        machine.run(20);
        const FakeThread& compute = compute_first ? one : other;
        CHECK(compute.facts.processor == 0);
        for (const FakeThread* const thread : {&one, &other}) {
            const ThreadReport report = machine.report_of(*thread);
            CHECK(report.factors[1].quality != Quality::absent);
            CHECK(report.factors[1].value == doctest::Approx(thread->factor_on_1).epsilon(0.02));
        }
        const Counts before = machine.daemon->report().counts;
        machine.run(20);
        CHECK(machine.daemon->report().counts.exchanges == before.exchanges);  // settled: nothing is tried
    }
}

TEST_CASE("learning: a thread whose behaviour changes is learned again and finds its place") {
    Machine machine;
    FakeThread& one = machine.start("one", 3);
    FakeThread& other = machine.start("other", 1.2);
    machine.begin();
    machine.run(20);
    REQUIRE(one.facts.processor == 0);
    one.factor_on_1 = 1.2;
    other.factor_on_1 = 4;
    machine.run(40);
    CHECK(other.facts.processor == 0);
}

TEST_CASE("learning: what is known of programs can be kept, and then nothing is tried") {
    Machine machine;
    machine.start("compute", 3);
    machine.start("memory", 1.2);
    machine.begin();
    machine.run(20);
    const std::vector<bridge::KnownTask> known = machine.daemon->learned();
    REQUIRE(known.size() == 2);
    CHECK(known[0].name == "compute.compute");
    CHECK(known[0].kinds.at("little").us / known[0].kinds.at("big").us == doctest::Approx(3).epsilon(0.02));
    Machine next;
    next.start("compute", 3);
    next.start("memory", 1.2);
    next.begin([&](const std::string& program) {
        const auto task = std::ranges::find(known, program, &bridge::KnownTask::name);
        return std::vector<bridge::Factor>{
            {1, Quality::measured, 0},
            {task->kinds.at("little").us / task->kinds.at("big").us, Quality::measured, 0}};
    });
    next.run(20);
    CHECK(next.system.changes() == 0);  // they began where they belong
}

TEST_CASE("learning: in a dry run nothing is tried, since nothing would be learned") {
    Machine machine;
    machine.start("memory", 1.2);
    machine.start("compute", 3);
    DaemonOptions options{
        .dry_run = true, .journal = machine.folder / "journal.json", .counters = &machine.counters};
    Daemon daemon(machine.system, {{"big", {{0}}}, {"little", {{1}}}}, {}, options);
    for (int i = 0; i < 50; ++i) {
        machine.system.pass(0.1);
        daemon.tick();
    }
    CHECK(daemon.report().recent.empty());
}

TEST_CASE("learning: where counters refuse that is said, and threads are steered by what is known") {
    Machine machine;
    machine.counters.refuses = true;
    machine.start("memory", 1.2);
    FakeThread& compute = machine.start("compute", 3);
    machine.begin([](const std::string& program) {
        return std::vector<bridge::Factor>{{1, Quality::measured, 0},
                                           {program.starts_with("compute") ? 3 : 1.2, Quality::estimated, 0}};
    });
    machine.run(5);
    CHECK(compute.facts.processor == 0);
    CHECK(machine.daemon->report().shortage == "counters refuse");
    CHECK(machine.daemon->learned().empty());
}

}  // namespace tidemill::steer
