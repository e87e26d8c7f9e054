#include "tidemill/tuning/choose/trials.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <doctest/doctest.h>

namespace tidemill {
namespace {

/// Lets candidates of these periods take turns until it is decided; returns whose turns there were.
template <class Period>
std::vector<std::size_t> decide(Trials& trials, Period period_us) {
    std::vector<std::size_t> whose;
    while (const auto turn = trials.next()) {
        whose.push_back(turn->candidate);
        trials.tell({period_us(turn->candidate)});
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
        trials.tell({turn->candidate == 0 ? 100 : 99.7});
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

namespace {

/// Lets candidates take turns under a source that lets nobody be faster than 1000 us a frame.
void decide_paced(Trials& trials, const std::vector<double>& busiest_us,
                  const std::vector<double>& least_us = {}) {
    for (int turns = 0; const auto turn = trials.next(); ++turns) {
        REQUIRE(turns < 100);
        const double least = least_us.empty() ? 0 : least_us[turn->candidate];
        const double period_us = std::max(1000.0, least);
        const double noise = turns % 2 == 0 ? 1.03 : 1;
        if (turn->looks)
            trials.tell({noise * period_us, busiest_us[turn->candidate], period_us > least});
        else
            trials.tell({period_us});
    }
}

}  // namespace

TEST_CASE("trials: first turns look at threads, those of later rounds where that costs little") {
    for (const bool is_cheap : {false, true}) {
        CAPTURE(is_cheap);
        Trials trials(2, is_cheap);
        std::vector<bool> looked;
        while (const auto turn = trials.next()) {
            looked.push_back(turn->looks);
            trials.tell({100, 100, false});
        }
        REQUIRE(looked.size() == 16);
        for (std::size_t turn = 0; turn < looked.size(); ++turn)
            CHECK(looked[turn] == (turn % 4 < 2 && (turn < 4 || is_cheap)));
        CHECK_FALSE(trials.source_sets_pace());
    }
}

TEST_CASE("trials: where the source sets the pace, the way with the least busy threads is best") {
    Trials trials(3);
    decide_paced(trials, {500, 260, 300});
    CHECK(trials.source_sets_pace());
    CHECK(trials.best() == 1);
    CHECK(trials.periods(1)->busiest_us == 260);
    CHECK(trials.periods(0)->busiest_us == 500);
    CHECK(trials.periods(1)->undisturbed_us >= 1000);
}

TEST_CASE("trials: a few per cent of room are not worth more threads") {
    Trials trials(2);
    decide_paced(trials, {500, 490});
    CHECK(trials.best() == 0);
}

TEST_CASE("trials: what does not keep up with the source is out, however idle its threads are") {
    Trials trials(2);
    decide_paced(trials, {500, 100}, {0, 1200});
    CHECK(trials.best() == 0);
}

TEST_CASE("trials: samples that wait make no way look faster than the source") {
    Trials trials(2);
    bool had_samples = false;
    while (const auto turn = trials.next()) {
        const bool has_samples = turn->candidate == 0 && !std::exchange(had_samples, true);
        if (has_samples)
            trials.tell({600, 600, false});
        else
            trials.tell({1000, turn->candidate == 0 ? 600.0 : 300.0, turn->looks});
    }
    CHECK(trials.best() == 1);
}

TEST_CASE("trials: one candidate needs none") {
    const Trials trials(1);
    CHECK_FALSE(trials.next());
    CHECK(trials.best() == 0);
    CHECK_FALSE(trials.periods(0));
}

}  // namespace tidemill
