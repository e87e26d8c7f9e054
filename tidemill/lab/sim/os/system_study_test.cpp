#include "tidemill/lab/sim/os/system_study.hpp"

#include <doctest/doctest.h>

#include "tidemill/lab/sim/os/published_programs.hpp"
#include "tidemill/lab/sim/os/system_cases.hpp"
#include "tidemill/lab/sim/sim_error.hpp"

namespace tidemill::os {

namespace {

Measured of(std::vector<std::vector<double>> turnarounds_s) {
    return {.turnarounds_s = std::move(turnarounds_s), .alone_s = {1, 1}};
}

}  // namespace

TEST_CASE("gain: of mean turnarounds it is what it is, of single runs luck counts as gain") {
    const Measured before = of({{2, 8}, {4, 8}});
    const Measured after = of({{4, 4}, {2, 4}});
    const Gain found = gain(before, after);
    CHECK(found.geometric == doctest::Approx(std::sqrt(2.0) - 1));
    CHECK(found.published == doctest::Approx((0.5 + 2 + 2 + 2) / 4 - 1));
    CHECK(found.least == doctest::Approx(0));
    CHECK(gains(before, after)[1] == doctest::Approx(1));
}

TEST_CASE("published programs: 23 of MiBench, each within its ratios, and the same for the same seed") {
    const Ratios ratios;
    const std::vector<Program> programs = published_programs("mibench", ratios, 1);
    CHECK(programs.size() == 23);
    CHECK(published_programs("spec10", ratios, 1).size() == 10);
    CHECK(published_programs("spec12", ratios, 1).size() == 12);
    for (std::size_t i = 0; i < programs.size(); ++i) {
        CAPTURE(programs[i].name);
        CHECK(programs[i].slowdown(1, 1 / ratios.most) >= ratios.least * 0.999999);
        CHECK(programs[i].slowdown(1, 1 / ratios.most) <= ratios.most * 1.000001);
        CHECK(programs[i].work_s() == published_programs("mibench", ratios, 1)[i].work_s());
    }
    CHECK_THROWS_WITH_AS(published_programs("spec13", ratios, 1), "there is no published workload 'spec13'",
                         SimError);
}

TEST_CASE("published programs: those that compute are in the upper third, those that wait in the lower") {
    const Ratios ratios{.least = 1, .most = 4};
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        for (const Program& program : published_programs("mibench", ratios, seed)) {
            if (program.name == "patricia_l") CHECK(program.slowdown(1, 0.25) >= 3);
            if (program.name == "crc_l") CHECK(program.slowdown(1, 0.25) <= 2);
            if (program.name == "toast_l") CHECK(program.phases.size() == 2);
        }
    }
}

TEST_CASE("study: the layer makes a mix faster than CFS and than the capacity-aware scheduler") {
    for (const char* scheduler : {"cfs", "capacity-aware"}) {
        CAPTURE(scheduler);
        Experiment experiment{
            .machine = big_little(1, 1, {.name = "big"}, {.name = "little", .speed = 1 / 4.24}),
            .programs = published_programs("mibench", {}, 1),
            .scheduler = scheduler};
        const Measured before = measure(experiment, 12, 1);
        experiment.model = bridge::time_ratio;
        const Measured after = measure(experiment, 12, 101);
        CHECK(gain(before, after).geometric > 0.05);
        CHECK(after.unfairness < before.unfairness);
    }
}

TEST_CASE("study: no runs and no programs are refused") {
    const Experiment nothing{.machine = two_cores(), .scheduler = "cfs"};
    CHECK_THROWS_AS(measure(nothing, 1, 1), SimError);
    CHECK_THROWS_AS(measure({.machine = two_cores(), .programs = {work(1)}, .scheduler = "cfs"}, 0, 1),
                    SimError);
}

}  // namespace tidemill::os
