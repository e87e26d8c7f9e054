#include "tidemill/lab/sim/os/exchange.hpp"

#include <doctest/doctest.h>

#include "tidemill/lab/sim/os/system_cases.hpp"

namespace tidemill::os {

namespace {

// Lets a layer see programs on both kinds before they run.
void teach(bridge::Layer& layer, const std::vector<Program>& programs) {
    for (const CoreId core : {0u, 1u}) {
        run_placed<Unbalanced>(two_cores(), programs, std::vector<CoreId>(programs.size(), core),
                               {.layer = &layer, .factors_used = false});
    }
}

const std::vector<Program> kUnlike{work(2, 0.02), work(2, 1)};

}  // namespace

TEST_CASE("exchange: who only waits for memory gives the big core to who computes") {
    bridge::Layer layer(2, 2);
    teach(layer, kUnlike);
    const Outcome outcome = run_placed<Unbalanced>(two_cores(), kUnlike, {0, 1}, {.layer = &layer});
    CHECK(outcome.migrations == 2);
    for (const double turnaround_s : outcome.turnaround_s) CHECK(turnaround_s < 2.3);
}

TEST_CASE("exchange: without it, loads alone leave both where they are") {
    bridge::Layer layer(2, 2);
    teach(layer, kUnlike);
    const Outcome outcome =
        run_placed<Unbalanced>(two_cores(), kUnlike, {0, 1}, {.layer = &layer, .exchanges = false});
    CHECK(outcome.migrations == 0);
}

TEST_CASE("exchange: what saves less than a tenth is not worth it") {
    const std::vector<Program> nearly{work(2, 0.9), work(2, 1)};
    bridge::Layer layer(2, 2);
    teach(layer, nearly);
    const Outcome outcome = run_placed<Unbalanced>(two_cores(), nearly, {0, 1}, {.layer = &layer});
    CHECK(outcome.turnaround_s[0] == doctest::Approx(2));
}

TEST_CASE("exchange: a program of which nothing is known stays") {
    bridge::Layer layer(2, 2);
    const Outcome outcome = run_placed<Unbalanced>(two_cores(), kUnlike, {0, 1}, {.layer = &layer});
    CHECK(outcome.migrations == 0);
}

TEST_CASE("exchange: a program alone goes up to an idle big core if that is worth it") {
    bridge::Layer layer(2, 2);
    teach(layer, kUnlike);
    const Outcome computes = run_placed<Unbalanced>(two_cores(), {kUnlike[1]}, {1}, {.layer = &layer});
    CHECK(computes.turnaround_s[0] < 2.1);
    const Outcome waits = run_placed<Unbalanced>(two_cores(), {kUnlike[0]}, {1}, {.layer = &layer});
    CHECK(waits.migrations == 0);
}

}  // namespace tidemill::os
