#include "tidemill/lab/reproduce/verdict.hpp"

#include <random>

#include <doctest/doctest.h>

namespace tidemill::cli {

namespace {

std::vector<double> noisy_rounds(std::mt19937_64& random, double usual) {
    std::lognormal_distribution<double> noise(0, 0.5);
    std::vector<double> rounds;
    for (int round = 0; round < kPairedRounds; ++round) rounds.push_back(usual * noise(random));
    return rounds;
}

int said(Verdict verdict, double ratio) {
    std::mt19937_64 random(5);
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::vector<double> ours = noisy_rounds(random, ratio);
        count += is_below(interval_of(ratios_of(ours, noisy_rounds(random, 1))), 1) == verdict;
    }
    return count;
}

}  // namespace

TEST_CASE("reproduces: an interval leaves the least and the greatest round out") {
    const Interval interval = interval_of({5, 1, 100, 3, 4, 2, 6});
    CHECK(interval.least == 2);
    CHECK(interval.most == 6);
    CHECK(is_below(interval, 6.5) == Verdict::yes);
    CHECK(is_below(interval, 6) == Verdict::cannot_tell);
    CHECK(is_below(interval, 2) == Verdict::no);
    CHECK(to_cell(Verdict::cannot_tell) == Cell{"cannot tell"});
}

TEST_CASE("reproduces: noise alone is hardly ever called a difference, and a clear difference is seen") {
    CHECK(said(Verdict::yes, 1) < 20);
    CHECK(said(Verdict::no, 1) < 20);
    CHECK(said(Verdict::yes, 0.3) > 800);
    CHECK(said(Verdict::no, 0.3) == 0);
}

}  // namespace tidemill::cli
