#include "tidemill/run/job/trials.hpp"

#include <random>

#include <doctest/doctest.h>

namespace tidemill {
namespace {

/// Lets candidates of these periods take turns until it is decided; returns whose turns there were.
template <class Period>
std::vector<std::size_t> decide(Trials& trials, Period period_us) {
    std::vector<std::size_t> whose;
    while (const auto turn = trials.next()) {
        whose.push_back(turn->candidate);
        trials.tell(period_us(turn->candidate));
    }
    return whose;
}

}  // namespace

TEST_CASE("trials: what is clearly slower is out after a round") {
    Trials trials(3);
    const std::vector<double> periods_us{200, 100, 150};
    CHECK(decide(trials, [&](std::size_t c) { return periods_us[c]; }) ==
          std::vector<std::size_t>{0, 1, 2, 0, 1, 2});
    CHECK(trials.best() == 1);
    CHECK(trials.periods(1)->undisturbed_us == 100);
    CHECK(trials.periods(0)->most_us == 200);
}

TEST_CASE("trials: what is nearly as fast takes longer turns, and the first wins where none is faster") {
    Trials trials(2);
    double longest_s = 0;
    while (const auto turn = trials.next()) {
        longest_s = std::max(longest_s, turn->seconds);
        trials.tell(turn->candidate == 0 ? 100 : 99.7);
    }
    CHECK(longest_s == doctest::Approx(0.048));
    CHECK(trials.best() == 0);
}

TEST_CASE("trials: 3 % are found through noise of 5 % in nearly all cases") {
    std::mt19937_64 random(6);
    std::uniform_real_distribution<double> noise(0.975, 1.025);
    int found = 0;
    for (int trial = 0; trial < 200; ++trial) {
        Trials trials(2);
        decide(trials, [&](std::size_t c) { return (c == 0 ? 103 : 100) * noise(random); });
        found += trials.best() == 1 ? 1 : 0;
    }
    CHECK(found > 190);
}

TEST_CASE("trials: 5 % are found through noise of 10 % in most cases") {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> noise(0.95, 1.05);
    int found = 0;
    for (int trial = 0; trial < 200; ++trial) {
        Trials trials(2);
        decide(trials, [&](std::size_t c) { return (c == 0 ? 105 : 100) * noise(random); });
        found += trials.best() == 1 ? 1 : 0;
    }
    CHECK(found > 170);
}

TEST_CASE("trials: one turn in a round that something disturbs, the first ones too, decides nothing") {
    for (std::size_t disturbed = 0; disturbed < 2; ++disturbed) {
        Trials trials(2);
        std::size_t turn = 0;
        decide(trials, [&](std::size_t c) {
            const bool is_long = turn++ % 4 == 2 * disturbed;
            return (c == 0 ? 95 : 100) * (is_long ? 1.6 : 1);
        });
        CHECK(trials.best() == 0);
    }
}

TEST_CASE("trials: one candidate needs none") {
    const Trials trials(1);
    CHECK_FALSE(trials.next());
    CHECK(trials.best() == 0);
    CHECK_FALSE(trials.periods(0));
}

}  // namespace tidemill
