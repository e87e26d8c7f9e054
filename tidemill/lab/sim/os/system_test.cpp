#include "tidemill/lab/sim/os/system.hpp"

#include <numeric>

#include <doctest/doctest.h>

#include "tidemill/lab/sim/os/system_cases.hpp"
#include "tidemill/lab/sim/sim_error.hpp"

namespace tidemill::os {

namespace {

constexpr double kTwoSlices_s = 0.012;

double sum(const std::vector<double>& values) {
    return std::reduce(values.begin(), values.end());
}

}  // namespace

TEST_CASE("system: alone, a program takes its work on a big core and its ratio times that on a little one") {
    for (const double core_bound : {0.0, 0.5, 1.0}) {
        const std::vector<Program> programs{work(2, core_bound)};
        CHECK(run_placed<Cfs>(two_cores(), programs, {0}).turnaround_s[0] == doctest::Approx(2));
        CHECK(run_placed<Unbalanced>(two_cores(), programs, {1}).turnaround_s[0] ==
              doctest::Approx(2 * (4 * core_bound + 1 - core_bound)));
    }
}

TEST_CASE("system: programs of equal priority on a core end together, others by their weights") {
    std::vector<Program> programs{work(1), work(1), work(1)};
    const Outcome equal = run_placed<Unbalanced>(two_cores(), programs, {0, 0, 0});
    for (const double turnaround_s : equal.turnaround_s) {
        CHECK(turnaround_s == doctest::Approx(3).epsilon(kTwoSlices_s / 3));
    }
    programs = {work(2), work(1)};
    programs[0].weight = 2048;
    const Outcome weighted = run_placed<Unbalanced>(two_cores(), programs, {0, 0});
    CHECK(weighted.turnaround_s[0] == doctest::Approx(3).epsilon(0.005));
    CHECK(weighted.turnaround_s[1] == doctest::Approx(3).epsilon(0.005));
}

TEST_CASE("system: a program sleeps after each of its phases, and wakes when it should") {
    const Program program{.name = "p", .phases = {{.work_s = 0.1, .sleep_s = 0.3}}, .rounds = 5};
    const Outcome outcome = run_placed<Unbalanced>(two_cores(), {program}, {0});
    CHECK(outcome.turnaround_s[0] == doctest::Approx(program.alone_s()));
    CHECK(outcome.busy_s[0] == doctest::Approx(0.5));
}

TEST_CASE("system: one that slept is let in before one that runs all the time") {
    const Program awake = work(2);
    const Program sleeper{.name = "s", .phases = {{.work_s = 0.002, .sleep_s = 0.098}}, .rounds = 20};
    const Outcome outcome = run_placed<Unbalanced>(two_cores(), {awake, sleeper}, {0, 0});
    CHECK(outcome.turnaround_s[1] == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("system: under every scheduler all work is done, no more, and by cores that are there") {
    for (const SchedulerName& scheduler : schedulers()) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            CAPTURE(scheduler.name);
            CAPTURE(seed);
            const std::vector<Program> programs = mix(9, seed);
            const Machine machine = four_cores();
            const std::unique_ptr<Scheduler> made = scheduler.make();
            const Outcome outcome = System(machine, programs, *made).run();
            double work_s = static_cast<double>(outcome.migrations) * machine.migration_us * 1e-6;
            for (const Program& program : programs) work_s += program.work_s();
            CHECK(outcome.done_s == doctest::Approx(work_s));
            CHECK(sum(outcome.busy_s) <= outcome.makespan_s * 4 * 1.000001);
            for (std::size_t i = 0; i < programs.size(); ++i) {
                CHECK(outcome.turnaround_s[i] >= programs[i].alone_s() * 0.999999);
            }
        }
    }
}

TEST_CASE("system: no core of a fair scheduler is idle while programs wait") {
    for (const char* scheduler : {"cfs", "capacity-aware", "itmt"}) {
        CAPTURE(scheduler);
        std::vector<Program> programs;
        for (int i = 0; i < 7; ++i) programs.push_back(work(0.5 + 0.1 * i));
        const Machine alike = big_little(2, 0, {.name = "big"}, {.name = "none"});
        const std::unique_ptr<Scheduler> made = make_scheduler(scheduler);
        const Outcome outcome = System(alike, programs, *made).run();
        // The last program may be alone for as long as it is behind the others.
        CHECK(outcome.makespan_s == doctest::Approx(5.6 / 2).epsilon(0.15));
    }
}

TEST_CASE("system: equal programs on equal cores are slowed down alike") {
    for (const char* scheduler : {"cfs", "capacity-aware", "itmt", "hmp"}) {
        CAPTURE(scheduler);
        const std::vector<Program> programs(8, work(1));
        const Machine alike = big_little(4, 0, {.name = "big"}, {.name = "none"});
        const std::unique_ptr<Scheduler> made = make_scheduler(scheduler);
        const Outcome outcome = System(alike, programs, *made).run();
        for (const double turnaround_s : outcome.turnaround_s) {
            CHECK(turnaround_s == doctest::Approx(2).epsilon(0.02));
        }
    }
}

TEST_CASE("system: the same programs run alike, those near other cores do not") {
    const auto run = [](const std::vector<Program>& programs) {
        Cfs cfs;
        return System(four_cores(), programs, cfs).run().turnaround_s;
    };
    std::vector<Program> others = mix(23, 1);
    for (Program& program : others) program.near = (program.near + 1) % 4;
    CHECK(run(mix(23, 1)) == run(mix(23, 1)));
    CHECK(run(mix(23, 1)) != run(others));
}

TEST_CASE(
    "system: a core whose frequency follows its load is fast for one who works and slow for one who sleeps") {
    Machine machine = two_cores();
    machine.follows_load = true;
    machine.kinds[0].steps = {0.25, 0.5, 1};
    const Outcome works = run_placed<Unbalanced>(machine, {work(2)}, {0});
    CHECK(works.turnaround_s[0] == doctest::Approx(2).epsilon(0.05));
    const Program sleeper{.name = "s", .phases = {{.work_s = 0.005, .sleep_s = 0.095}}, .rounds = 20};
    const Outcome sleeps = run_placed<Unbalanced>(machine, {sleeper}, {0});
    CHECK(sleeps.busy_s[0] > 0.35);
}

TEST_CASE("system: a layer learns what programs take on each kind from what the system counts") {
    const std::vector<Program> programs{work(0.3, 0.5), work(0.3, 1)};
    bridge::Layer layer(2, 2);
    for (const std::vector<CoreId>& cores : {std::vector<CoreId>{0, 0}, {1, 1}}) {
        run_placed<Unbalanced>(two_cores(), programs, cores, {.layer = &layer, .factors_used = false});
    }
    for (TaskId i = 0; i < 2; ++i) layer.exec(i, programs[i].name);
    layer.generate();
    CHECK(layer.factors().read(0, 1).value == doctest::Approx(2.5).epsilon(0.01));
    CHECK(layer.factors().read(1, 1).value == doctest::Approx(4).epsilon(0.01));
    CHECK(layer.factors().read(1, 1).quality == bridge::Quality::measured);
}

TEST_CASE("system: a layer whose factors are not used changes nothing") {
    const std::vector<Program> programs = mix(9, 3);
    bridge::Layer layer(programs.size(), 2);
    const auto run = [&](Bridged bridged) {
        Cfs cfs;
        return System(four_cores(), programs, cfs, bridged).run().turnaround_s;
    };
    CHECK(run({}) == run({.layer = &layer, .factors_used = false}));
}

TEST_CASE("system: machines and programs that cannot be are refused by name") {
    Cfs cfs;
    const std::vector<Program> good{work(1)};
    CHECK_THROWS_WITH_AS(System({}, good, cfs), "a simulated system needs at least one core", SimError);
    Machine machine = two_cores();
    machine.cores[0] = 7;
    CHECK_THROWS_WITH_AS(System(machine, good, cfs), "a core is of kind 7, but there are 2", SimError);
    machine = two_cores();
    machine.kinds[1].speed = 0;
    CHECK_THROWS_AS(System(machine, good, cfs), SimError);
    Program never = work(1);
    never.phases.clear();
    CHECK_THROWS_AS(System(two_cores(), std::vector{never}, cfs), SimError);
    CHECK_THROWS_AS(System(two_cores(), std::vector{work(-1)}, cfs), SimError);
    CHECK_THROWS_AS(System(two_cores(), std::vector{work(1, 1.5)}, cfs), SimError);
    CHECK_THROWS_WITH_AS(make_scheduler("bfs"),
                         "there is no simulated scheduler 'bfs': take one of cfs, unbalanced, hmp, hmp-low, "
                         "capacity-aware, itmt",
                         SimError);
}

}  // namespace tidemill::os
