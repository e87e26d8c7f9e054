#include <doctest/doctest.h>

#include "tidemill/lab/sim/os/fair.hpp"
#include "tidemill/lab/sim/os/hmp.hpp"
#include "tidemill/lab/sim/os/scheduler.hpp"
#include "tidemill/lab/sim/os/system_cases.hpp"

namespace tidemill::os {

namespace {

Machine two_alike() {
    return big_little(2, 0, {.name = "big"}, {.name = "none"});
}

std::vector<CoreId> so_many_on(std::size_t on_first, std::size_t on_second) {
    std::vector<CoreId> cores(on_first, 0);
    cores.insert(cores.end(), on_second, 1);
    return cores;
}

// Moves of programs that nobody sees end.
std::uint64_t moves_within(double seconds, const Machine& machine, const std::vector<CoreId>& cores) {
    const std::vector<Program> programs(cores.size(), work(100));
    Placed<Cfs> cfs(cores);
    return System(machine, programs, cfs).run_until(seconds).migrations;
}

Program sleeper(double work_s, double sleep_s, std::size_t rounds) {
    return {.name = "sleeper", .phases = {{.work_s = work_s, .sleep_s = sleep_s}}, .rounds = rounds};
}

}  // namespace

TEST_CASE("cfs: five programs beside four are not a quarter more and stay, six beside four are") {
    CHECK(moves_within(1, two_alike(), so_many_on(5, 4)) == 0);
    CHECK(moves_within(1, two_alike(), so_many_on(6, 4)) == 1);
    CHECK(moves_within(1, two_alike(), so_many_on(9, 1)) == 4);
}

TEST_CASE("cfs: an idle core pulls at once, a busy one looks every 64 ms") {
    CHECK(moves_within(0.01, two_alike(), so_many_on(8, 0)) == 4);
    std::vector<Program> programs(12, work(100));
    for (std::size_t late = 8; late < 12; ++late) programs[late].arrival_s = 0.01;
    Placed<Cfs> cfs({0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0});
    System system(two_alike(), programs, cfs);
    CHECK(system.run_until(0.06).migrations == 0);
    CHECK(system.run_until(0.08).migrations == 2);
}

TEST_CASE("cfs: a program of which half is more than what is to move stays") {
    std::vector<Program> programs(4, work(100));
    programs[0].weight = programs[1].weight = 4 * 1024;
    Placed<Cfs> heavy({0, 0, 1, 1});  // 8 beside 2, 3 are to move: half of 4 is less
    CHECK(System(two_alike(), programs, heavy).run_until(0.06).migrations == 1);
    programs[2].weight = 5 * 1024;
    Placed<Cfs> heavier({0, 0, 1, 1});  // 8 beside 6, 1 is to move: half of 4 is more
    CHECK(System(two_alike(), programs, heavier).run_until(0.06).migrations == 0);
}

TEST_CASE("cfs: blind to kinds, it leaves a program alone on a little core while the big one is idle") {
    const Outcome outcome = run_placed<Cfs>(two_cores(), {work(1)}, {1});
    CHECK(outcome.turnaround_s[0] == doctest::Approx(4));
    CHECK(outcome.migrations == 0);
}

TEST_CASE("capacity-aware: a program too large for its core goes to an idle big one within a few ticks") {
    const Outcome outcome = run_placed<CapacityAware>(two_cores(), {work(1)}, {1});
    CHECK(outcome.migrations == 1);
    CHECK(outcome.turnaround_s[0] < 1.2);
}

TEST_CASE("capacity-aware: an idle big core takes one that waits before one that runs on a little core") {
    const Machine machine = big_little(1, 2, {.name = "big"}, {.name = "little", .speed = 0.25});
    const std::vector<Program> programs(3, work(1));
    Placed<CapacityAware> scheduler({1, 1, 2});
    System system(machine, programs, scheduler);
    CHECK(system.run_until(0.9).migrations == 1);
    CHECK(system.run_until(1.1).migrations == 2);
}

TEST_CASE("capacity-aware: loads count by capacity, so a big core has four programs for one of the little") {
    std::vector<Program> programs(10, work(1));
    const Outcome outcome = run_placed<CapacityAware>(two_cores(), programs, so_many_on(5, 5));
    CHECK(outcome.turnaround_s[9] == doctest::Approx(8).epsilon(0.1));
    CHECK(outcome.makespan_s == doctest::Approx(8).epsilon(0.1));
}

TEST_CASE("capacity-aware: a program that needs little wakes on the little core and stays there") {
    const Outcome outcome = run_placed<CapacityAware>(two_cores(), {sleeper(0.001, 0.1, 20)}, {1});
    CHECK(outcome.busy_s[0] == 0);
}

TEST_CASE("itmt: big cores fill first, also with what sleeps") {
    Program sleeps = sleeper(0.001, 0.1, 20);
    for (const CoreId near : {0u, 1u}) {
        sleeps.near = near;
        Itmt itmt;
        CHECK(System(two_cores(), std::vector{sleeps}, itmt).run().busy_s[1] == 0);
    }
    CHECK(run_placed<Itmt>(two_cores(), {work(1)}, {1}).turnaround_s[0] < 1.1);
}

TEST_CASE("itmt: capacities do not count, both cores have half of the programs") {
    const std::vector<Program> programs(8, work(0.1, 0));
    Placed<Itmt> scheduler(so_many_on(4, 4));
    CHECK(System(two_cores(), programs, scheduler).run_until(0.3).migrations == 0);
}

TEST_CASE("hmp: programs start on big cores, and one waits no longer where a little core is idle") {
    Hmp hmp;
    const std::vector<Program> programs{work(1), work(1), work(1)};
    const Outcome outcome = System(two_cores(), programs, hmp).run();
    CHECK(outcome.busy_s[1] > 1);
    const Outcome alone = System(two_cores(), std::vector{work(1)}, hmp).run();
    CHECK(alone.busy_s[1] == 0);
}

TEST_CASE("hmp: off-loads to an idle little core only") {
    Hmp hmp;
    const std::vector<Program> programs(6, work(1));
    const Outcome outcome = System(two_cores(), programs, hmp).run_until(3.5);
    CHECK(outcome.migrations == 1);
}

TEST_CASE("hmp: a program above the up threshold goes to an idle big core, one below stays") {
    CHECK(run_placed<Hmp>(two_cores(), {work(1)}, {1}).turnaround_s[0] < 1.1);
    // Runs for 40 % of the time on the little core.
    const Outcome below = run_placed<Hmp>(two_cores(), {sleeper(0.001, 0.006, 100)}, {1});
    CHECK(below.busy_s[0] < 0.2 * below.busy_s[1]);
}

TEST_CASE("hmp: a program below the down threshold leaves the big core when it wakes") {
    const Outcome outcome = run_placed<Hmp>(two_cores(), {sleeper(0.001, 0.02, 100)}, {0});
    CHECK(outcome.busy_s[1] > 10 * outcome.busy_s[0]);
}

}  // namespace tidemill::os
