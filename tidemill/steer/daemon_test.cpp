#include "tidemill/steer/daemon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include "tidemill/steer/testing/fake_system.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::steer {
namespace {

using bridge::Quality;
using testing::FakeSystem;
using testing::FakeThread;

const CpuSet kBig = {0};
const CpuSet kLittle = {1};
const CpuSet kAll = {0, 1};

/// Programs whose names say how many times longer they take on the little core.
std::vector<bridge::Factor> by_name(const std::string& program) {
    const double factor = program.starts_with("compute") ? 2.4 : program.starts_with("memory") ? 1.2 : 1;
    return {{1, Quality::measured, 0}, {factor, Quality::measured, 0}};
}

/// A machine with one big and one little core, and a daemon that watches all of it.
struct Machine {
    FakeSystem system{kAll};
    ScratchFolder folder{};
    std::optional<Daemon> daemon{};

    DaemonOptions options() const { return {.journal = folder / "journal.json", .known = by_name}; }
    void begin(const Target& target = {}) { begin(target, options()); }
    void begin(const Target& target, DaemonOptions options) {
        daemon.emplace(system, std::vector<CpuKind>{{"big", {kBig}}, {"little", {kLittle}}}, target,
                       std::move(options));
    }
    void run(double seconds) {
        for (double passed = 0; passed < seconds; passed += 0.1) {
            system.pass(0.1);
            daemon->tick();
        }
    }
    CpuSet of(const FakeThread& thread) const { return system.effective(thread); }
    std::string journal() const { return ScratchFolder::content_of(folder / "journal.json"); }
};

}  // namespace

TEST_CASE(
    "daemon: the compute-bound of three threads comes to the big core, and all are as before at the end") {
    for (int first = 0; first < 3; ++first) {
        CAPTURE(first);
        Machine machine;
        std::vector<FakeThread*> threads;
        for (int i = 0; i < 3; ++i)
            threads.push_back(&machine.system.start(i == first ? "compute" : "memory"));
        machine.begin();
        machine.run(3);
        CHECK(threads[static_cast<std::size_t>(first)]->facts.processor == 0);
        const std::size_t changes = machine.system.changes();
        machine.run(3);
        CHECK(machine.system.changes() == changes);  // it has come to rest
        machine.daemon->end();
        for (const FakeThread* thread : threads) CHECK(machine.of(*thread) == kAll);
        CHECK(machine.journal().find("compute") == std::string::npos);
    }
}

TEST_CASE("daemon: threads on the wrong cores are exchanged, and the report says why") {
    Machine machine;
    machine.system.start("memory");
    machine.system.start("compute");
    machine.begin();
    machine.run(1);
    const Report report = machine.daemon->report();
    CHECK(report.counts.exchanges == 1);
    CHECK(report.counts.moves == 0);
    REQUIRE(report.recent.size() == 1);
    CHECK(
        report.recent[0].find("1001 compute.compute to big (2.40 times longer on little), 1000 memory.memory "
                              "to little (1.20 times longer on little), for speed") != std::string::npos);
    CHECK(report.kinds[0].confined == 1);
    CHECK(report.mean_over_alone > 1);
    CHECK(describe(report).find("1 exchanges") != std::string::npos);
    CHECK(to_metrics(report).find("tidemill_bridge_exchanges_total 1\n") != std::string::npos);
    CHECK(to_text(to_json(report)).find("\"exchanges\":1") != std::string::npos);
}

TEST_CASE("daemon: programs that begin with it are put where they belong within half a second") {
    Machine machine;
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    memory.spins = compute.spins = false;  // held
    for (FakeThread* const each : {&memory, &compute}) each->factor_on_1 = each == &compute ? 2.4 : 1.2;
    machine.begin();
    machine.daemon->tick();
    memory.spins = compute.spins = true;
    machine.run(0.5);
    CHECK(machine.of(compute) == kBig);
    CHECK(machine.of(memory) == kLittle);
}

TEST_CASE("daemon: programs that begin while it watches are put where they belong within half a second") {
    for (int before = 0; before < 10; ++before) {
        CAPTURE(before);
        Machine machine;
        machine.system.start("other").spins = false;
        machine.begin();
        machine.run(1 + 0.1 * before);
        machine.system.start("memory");
        FakeThread& compute = machine.system.start("compute");
        machine.run(0.5);
        CHECK(machine.of(compute) == kBig);
    }
}

namespace {

/// Three programs that begin one after the other within a second and want more and less of a core.
struct ThreePrograms : Machine {
    ThreePrograms(unsigned seed, std::array<const char*, 3> names) : random(seed) {
        FakeThread& parent = system.start("shell");
        parent.spins = false;
        begin();
        const double usual = part(0.5, 1.1);
        for (const char* name : names) {
            run(part(0, 0.4));
            FakeThread& thread = system.start(name, 0, parent.number);
            thread.factor_on_1 = by_name(name)[1].value;
            threads.push_back(&thread);
        }
        for (int tenth = 0; tenth < 200; ++tenth) {
            for (FakeThread* thread : threads) thread->busy = usual * part(0.8, 1.2);
            run(0.1);
        }
    }

    double part(double least, double most) { return std::uniform_real_distribution(least, most)(random); }

    std::mt19937_64 random;
    std::vector<FakeThread*> threads;
};

}  // namespace

TEST_CASE("daemon: of three equal programs on two cores none is exchanged, whatever they seem to want") {
    for (const char* name : {"compute", "memory"}) {
        for (unsigned seed = 1; seed <= 10; ++seed) {
            CAPTURE(name);
            CAPTURE(seed);
            const ThreePrograms equal(seed, {name, name, name});
            CHECK(equal.daemon->report().counts.exchanges == 0);
        }
    }
}

TEST_CASE(
    "daemon: the one of three programs that loses most comes to the big core, and no more is exchanged") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        ThreePrograms unequal(seed, {"memory", "compute", "memory"});
        CHECK(unequal.threads[1]->facts.processor == 0);
        CHECK(unequal.daemon->report().counts.exchanges <= 1);
    }
}

TEST_CASE(
    "daemon: kernel threads, real-time threads and those that somebody has narrowed are never touched") {
    Machine machine;
    FakeThread& kernel = machine.system.start("kworker");
    kernel.facts.is_kernel_thread = true;
    FakeThread& fifo = machine.system.start("audio");
    fifo.facts.policy = 1;
    FakeThread& deadline = machine.system.start("control");
    deadline.facts.policy = 6;
    FakeThread& pinned = machine.system.start("memory");
    pinned.wish = kBig;
    FakeThread& compute = machine.system.start("compute");
    compute.facts.processor = 1;
    machine.begin();
    machine.run(5);
    CHECK(machine.of(compute) == kBig);
    machine.daemon->end();
    for (const FakeThread* thread : {&kernel, &fifo, &deadline, &pinned}) CHECK_FALSE(thread->is_touched);
    CHECK(machine.of(pinned) == kBig);
}

TEST_CASE("daemon: who is narrowed by somebody else while it is steered is left alone from then on") {
    Machine machine;
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin();
    machine.run(1);
    REQUIRE(machine.of(memory) == kLittle);
    memory.wish = kBig;
    machine.run(3);
    CHECK(machine.daemon->end().changed == 0);  // no longer one of ours
    CHECK(machine.of(memory) == kBig);
    CHECK(machine.of(compute) == kAll);
}

TEST_CASE("daemon: a thread that vanishes in the middle of an exchange harms nobody") {
    Machine machine;
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    bool once = true;
    machine.system.before_change = [&] {
        if (std::exchange(once, false)) machine.system.end(memory);
    };
    machine.begin();
    machine.run(3);
    CHECK(machine.of(compute) == kBig);
    CHECK(machine.daemon->end().restored == 1);
    CHECK(machine.of(compute) == kAll);
}

TEST_CASE("daemon: what the system refuses is undone, counted and not tried again") {
    Machine machine;
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    memory.is_ours = false;
    machine.begin();
    machine.run(4);
    const Report report = machine.daemon->report();
    CHECK(report.counts.refused == 1);
    CHECK(report.counts.undone == 1);
    CHECK(report.by_standing[static_cast<std::size_t>(Standing::refused)] == 1);
    CHECK(machine.of(memory) == kAll);
    machine.daemon->end();
    CHECK(machine.of(compute) == kAll);
}

TEST_CASE("daemon: when a kind's cores go off line its threads go elsewhere, and come back with them") {
    Machine machine;
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin();
    machine.run(2);
    machine.system.set_online(kLittle);
    machine.run(2);
    CHECK(compute.facts.processor == 1);
    machine.system.set_online(kAll);
    machine.run(3);
    CHECK(machine.of(compute) == kBig);
    CHECK(machine.of(memory) == kLittle);
    machine.daemon->end();
    CHECK(machine.of(compute) == kAll);
    CHECK(machine.of(memory) == kAll);
}

TEST_CASE("daemon: in a cpuset that has shrunk to one kind nobody is steered, and later on again") {
    Machine machine;
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin();
    machine.run(2);
    machine.system.set_cpuset(kLittle);
    machine.run(6);
    const std::size_t changes = machine.system.changes();
    machine.run(6);
    CHECK(machine.system.changes() == changes);
    machine.system.set_cpuset(kAll);
    machine.run(8);
    CHECK(machine.of(compute) == kBig);
    machine.daemon->end();
    CHECK(machine.of(compute) == kAll);
    CHECK(machine.of(memory) == kAll);
}

TEST_CASE("daemon: a number that somebody else has now is never steered") {
    Machine machine;
    machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin({.processes = {1000, 1001}});
    machine.run(1);
    machine.system.end(compute);
    machine.system.reuse(1001);
    FakeThread& stranger = machine.system.start("compute");
    stranger.facts.session = 6;
    stranger.wish = kLittle;
    machine.run(3);
    machine.daemon->end();
    REQUIRE(stranger.number == 1001);
    CHECK_FALSE(stranger.is_touched);
}

TEST_CASE("daemon: what a steered process begins is steered, too, and restored") {
    Machine machine;
    FakeThread& other = machine.system.start("memory");
    FakeThread& parent = machine.system.start("compute");
    machine.begin({.processes = {parent.number, other.number}});
    machine.run(2);
    REQUIRE(machine.of(parent) == kBig);
    FakeThread& child = machine.system.fork(parent, "memory");
    CHECK(machine.of(child) == kBig);
    machine.run(2);
    CHECK(machine.daemon->report().threads == 3);
    FakeThread& late = machine.system.fork(parent, "compute");  // and nobody has looked since
    machine.daemon->end();
    for (const FakeThread* thread : {&parent, &other, &child, &late}) CHECK(machine.of(*thread) == kAll);
}

TEST_CASE(
    "daemon: killed at any moment, even within an exchange, it has left nothing once the next one began") {
    for (std::size_t killed_after = 0; killed_after < 8; ++killed_after) {
        CAPTURE(killed_after);
        Machine machine;
        std::vector<FakeThread*> threads = {&machine.system.start("memory"), &machine.system.start("compute"),
                                            &machine.system.start("memory"), &machine.system.start("other")};
        machine.system.killed_after = killed_after;
        machine.begin();
        try {
            machine.run(1);
            machine.system.end(*threads[3]);
            machine.run(3);
        } catch (const FakeSystem::Killed&) {
        }
        machine.system.killed_after = 0;
        threads.pop_back();
        const std::string journal = machine.journal();
        try {
            machine.daemon->end();
        } catch (const FakeSystem::Killed&) {
        }
        FakeThread& late = machine.system.fork(*threads[1], "compute");
        machine.folder.put("journal.json", journal);
        machine.system.killed_after = static_cast<std::size_t>(-1);
        machine.begin();
        for (const FakeThread* thread : threads) CHECK(machine.of(*thread) == kAll);
        CHECK(machine.of(late) == kAll);
    }
}

TEST_CASE("daemon: an orphan whose parent ended before anybody looked is taken for what it is") {
    Machine machine;
    machine.system.reuse(1);
    machine.system.start("init").spins = false;
    machine.system.reuse(1000);
    FakeThread& memory = machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin();
    machine.run(2);
    REQUIRE(machine.of(compute) == kBig);
    FakeThread& parent = machine.system.fork(compute, "memory");
    FakeThread& orphan = machine.system.fork(parent, "memory");
    machine.system.end(parent);
    CHECK(orphan.facts.parent == 1);
    machine.run(2);
    CHECK(machine.daemon->report().by_standing[static_cast<std::size_t>(Standing::foreign)] == 0);
    machine.daemon->end();
    for (const FakeThread* thread : {&memory, &compute, &orphan}) CHECK(machine.of(*thread) == kAll);
}

TEST_CASE("daemon: of processes that are followed, orphans are, too") {
    for (const double seconds : {0.0, 20.0}) {
        CAPTURE(seconds);
        Machine machine;
        FakeThread& memory = machine.system.start("memory");
        FakeThread& compute = machine.system.start("compute");
        machine.begin({.processes = {memory.number, compute.number}});
        machine.run(2);
        REQUIRE(machine.of(compute) == kBig);
        FakeThread& parent = machine.system.fork(compute, "memory");
        FakeThread& orphan = machine.system.fork(parent, "memory");
        machine.system.end(parent);
        machine.run(seconds);
        CHECK(machine.daemon->report().processes == (seconds > 0 ? 3 : 2));
        machine.daemon->end();
        CHECK(machine.of(orphan) == kAll);
    }
}

TEST_CASE("daemon: a control group that is removed is no failure") {
    Machine machine;
    machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin({.group = "group"});
    machine.run(2);
    machine.system.is_group_removed = true;
    machine.run(2);
    machine.daemon->end();
    CHECK(machine.of(compute) == kAll);
}

TEST_CASE("daemon: a journal of before the machine's last start restores nobody") {
    Machine machine;
    machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin();
    machine.run(1);
    const std::string journal = machine.journal();
    machine.daemon->end();
    machine.folder.put("journal.json", journal);
    machine.system.reboot();
    compute.wish = kBig;  // as the journal has it, but of somebody else
    machine.begin();
    CHECK(machine.daemon->restored_at_start().restored == 0);
    CHECK(machine.of(compute) == kBig);
}

TEST_CASE("daemon: a dry run decides and changes nothing") {
    Machine machine;
    machine.system.start("memory");
    machine.system.start("compute");
    DaemonOptions options = machine.options();
    options.dry_run = true;
    std::vector<std::string> told;
    options.told = [&](const std::string& change) { told.push_back(change); };
    machine.begin({}, options);
    machine.run(3);
    CHECK(told.size() == 1);
    CHECK(machine.system.changes() == 0);
    CHECK(machine.journal().empty());
    CHECK(machine.daemon->report().counts.exchanges == 1);
}

TEST_CASE("daemon: who wants little for a while may run everywhere again") {
    Machine machine;
    machine.system.start("memory");
    FakeThread& compute = machine.system.start("compute");
    machine.begin();
    machine.run(2);
    REQUIRE(machine.of(compute) == kBig);
    compute.spins = false;
    machine.run(6);
    CHECK(machine.of(compute) == kAll);
    CHECK(machine.daemon->report().counts.released == 1);
}

TEST_CASE(
    "daemon: with a bound for fairness equal threads take turns, without one the luckier keeps its core") {
    for (const bool fair : {false, true}) {
        CAPTURE(fair);
        Machine machine;
        for (int i = 0; i < 3; ++i) machine.system.start("compute");
        DaemonOptions options = machine.options();
        if (fair) options.decision.fair = 0.1;
        machine.begin({}, options);
        machine.run(60);
        const Counts counts = machine.daemon->report().counts;
        CHECK((counts.exchanges + counts.moves > 5) == fair);
    }
}

TEST_CASE("daemon: targets that are not there, one kind and a bad journal are refused with a sentence") {
    Machine machine;
    CHECK_THROWS_WITH_AS(machine.begin({.processes = {77}}), doctest::Contains("no process 77"), SteerError);
    CHECK_THROWS_AS(machine.begin({.group = "nowhere"}), SteerError);
    CHECK_THROWS_WITH_AS(Daemon(machine.system, {{"big", {kBig}}}, {}, machine.options()),
                         doctest::Contains("--kinds"), SteerError);
    machine.folder.put("journal.json", "{");
    CHECK_THROWS_WITH_AS(machine.begin(), doctest::Contains("journal.json"), SteerError);
    DaemonOptions options = machine.options();
    options.journal = "/nowhere/journal.json";
    CHECK_THROWS_WITH_AS(machine.begin({}, options), doctest::Contains("/nowhere/journal.json"), SteerError);
    machine.folder.put("journal.json", R"({"version": 1, "boot_id": "", "threads": []})");
    machine.begin({.group = "group"});
    CHECK(machine.daemon->is_over());
    machine.run(1);
}

}  // namespace tidemill::steer
