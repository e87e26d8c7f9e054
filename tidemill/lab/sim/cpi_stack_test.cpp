#include "tidemill/lab/sim/cpi_stack.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

using doctest::Approx;

namespace {

// A15 and A7 as in the paper: the CPU factor is 1.5; a miss costs 200 cycles on the big core, 90 on the
// little one, whose clock is slower.
const CpiMachine kBoard{{1.5, 1}, {200, 90}};

History history(std::uint64_t cycles, std::uint64_t misses) {
    History history;
    history.note({.time_ns = 1'000'000, .instructions = 1'000'000, .cycles = cycles, .misses = misses});
    return history;
}

double benefit_of(std::uint64_t cycles, std::uint64_t misses) {
    return *big_core_benefit(std::vector{history(cycles, misses), History{}}, kBoard.penalty_cycles);
}

}  // namespace

TEST_CASE("CPI stack: the benefit is the share of cycles that were not spent on misses, in steps of 0.1") {
    // CPI = 2; CPI_S = 0.003 misses an instruction x 200 cycles = 0.6; b = 1.4 / 2 = 0.7
    CHECK(benefit_of(2'000'000, 3'000) == Approx(0.7));
    // CPI_S = 0.5, b = 0.75, and 0.52, b = 0.74: one is rounded up, one down
    CHECK(benefit_of(2'000'000, 2'500) == Approx(0.8));
    CHECK(benefit_of(2'000'000, 2'600) == Approx(0.7));
    CHECK(benefit_of(2'000'000, 0) == 1);
    CHECK(benefit_of(2'000'000, 9'900) == Approx(0.1));
    CHECK(benefit_of(2'000'000, 20'000) == Approx(0.1));  // misses overlap: more than all its cycles
}

TEST_CASE("CPI stack: what was counted on each kind counts with that kind's penalty") {
    // 3,000 misses of 200 cycles and 10,000 of 90 are 1.5 of 5 million cycles
    const std::vector both{history(2'000'000, 3'000), history(3'000'000, 10'000)};
    CHECK(big_core_benefit(both, kBoard.penalty_cycles) == Approx(0.7));
    CHECK(big_core_benefit(std::vector<History>(2), kBoard.penalty_cycles) == std::nullopt);
}

TEST_CASE("CPI stack: a factor is the core's times the task's, so its matrix has rank one") {
    const Model model = cpi_stack(kBoard);
    const std::vector pure{history(1'000'000, 0), History{}};
    const std::vector memory{History{}, history(9'000'000, 60'000)};  // b = 1 - 5.4 / 9 = 0.4
    CHECK(model(pure, 0).value == Approx(1));
    CHECK(model(pure, 1).value == Approx(1.5));
    CHECK(model(memory, 0).value == Approx(0.4));
    CHECK(model(memory, 1).value == Approx(0.6));
    CHECK(model(memory, 0).quality == Quality::estimated);
    CHECK(cpi_stack({{1.5, 1}, {200, 90}, 2})(memory, 1).value == Approx(1.2));
}

TEST_CASE("CPI stack: without counters there is no CPI, and the factor is absent") {
    std::vector<History> timed(2);
    timed[0].note({.time_ns = 400'000, .instructions = 1'000'000});
    timed[1].note({.time_ns = 1'000'000, .instructions = 1'000'000});
    CHECK(cpi_stack(kBoard)(timed, 1).quality == Quality::absent);
    CHECK(time_ratio(timed, 1).value == Approx(2.5));
}

TEST_CASE("CPI stack: the layer makes its factors by the model that it is given") {
    Layer layer(2, 2, cpi_stack(kBoard));
    layer.create(1);
    layer.statistic(1, 0,
                    {.time_ns = 1'000, .instructions = 1'000'000, .cycles = 2'000'000, .misses = 3'000});
    layer.generate();
    CHECK(layer.factors().read(1, 1).value == Approx(1.5 * 0.7));
}

TEST_CASE("CPI stack: a machine that cannot be is refused") {
    CHECK_THROWS_WITH_AS(cpi_stack({{1, 1}, {200}}), doctest::Contains("2 capacities and 1 penalties"),
                         BridgeError);
    CHECK_THROWS_WITH_AS(cpi_stack({{1, 0}, {200, 90}}), doctest::Contains("above 0"), BridgeError);
    CHECK_THROWS_WITH_AS(cpi_stack({{1, 1}, {200, 90}, 0}), doctest::Contains("above 0"), BridgeError);
    CHECK_THROWS_WITH_AS(cpi_stack({{1, 1}, {200, -1}}), doctest::Contains("less than 0 cycles"),
                         BridgeError);
}

}  // namespace tidemill::bridge
