#include "tidemill/dvbs2/ber/proportion.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace tidemill::dvbs2 {
namespace {

// P(X <= k) of a binomial distribution, term by term.
double at_most(std::uint64_t k, std::uint64_t n, double p) {
    double sum = 0;
    for (std::uint64_t i = 0; i <= k; ++i) {
        const auto x = static_cast<double>(i);
        const auto all = static_cast<double>(n);
        sum += std::exp(std::lgamma(all + 1) - std::lgamma(x + 1) - std::lgamma(all - x + 1) +
                        x * std::log(p) + (all - x) * std::log1p(-p));
    }
    return sum;
}

}  // namespace

TEST_CASE("proportion: the limits are those of the published tables") {
    // Clopper and Pearson 1934, fig. 4 and later tables: 2 of 10, 95 %.
    const Interval some = proportion_interval(2, 10);
    CHECK(some.low == doctest::Approx(0.02521).epsilon(1e-3));
    CHECK(some.high == doctest::Approx(0.55610).epsilon(1e-3));
    CHECK(proportion_interval(0, 1'000'000).high == doctest::Approx(2.9957e-6).epsilon(1e-4));
    CHECK(proportion_interval(0, 1000).low == 0);
    CHECK(proportion_interval(1000, 1000).high == 1);
    CHECK(proportion_interval(0, 0).high == 1);
}

TEST_CASE("proportion: at each limit, what was seen has a probability of 2.5 %") {
    CHECK(rc::check("coverage", [] {
        const auto trials = *rc::gen::inRange<std::uint64_t>(2, 3000);
        const auto events = *rc::gen::inRange<std::uint64_t>(1, trials);
        const Interval interval = proportion_interval(events, trials);
        RC_ASSERT(std::abs(at_most(events, trials, interval.high) - 0.025) < 1e-6);
        RC_ASSERT(std::abs(1 - at_most(events - 1, trials, interval.low) - 0.025) < 1e-6);
    }));
}

}  // namespace tidemill::dvbs2
