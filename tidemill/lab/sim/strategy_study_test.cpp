#include "tidemill/lab/sim/strategy_study.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/lab/sim/published.hpp"

namespace tidemill {

TEST_CASE("random chains follow their law") {
    std::mt19937_64 random(1);
    double slowdowns = 0;
    double weights = 0;
    for (int i = 0; i < 500; ++i) {
        const Chain chain = random_chain(random, {.stateless = 0.2});
        check(chain);
        REQUIRE(chain.tasks.size() == 20);
        CHECK(std::ranges::count(chain.tasks, true, &ChainTask::replicable) == 4);
        for (const ChainTask& task : chain.tasks) {
            CHECK(task.weight_us[0] == std::round(task.weight_us[0]));
            CHECK(task.weight_us[1] == std::round(task.weight_us[1]));
            CHECK(task.weight_us[1] < 5 * task.weight_us[0] + 1);
            weights += task.weight_us[0] / 10000;
            slowdowns += task.weight_us[1] / task.weight_us[0] / 10000;
        }
    }
    CHECK(weights == doctest::Approx(50.5).epsilon(0.02));
    CHECK(slowdowns == doctest::Approx(3).epsilon(0.02));  // rounding up adds little
}

TEST_CASE("shares of replicable tasks are whole tasks, rounded up") {
    std::mt19937_64 random(1);
    for (const auto& [tasks, stateless, expected] :
         {std::tuple{20u, 0.8, 16}, {20u, 0.5, 10}, {7u, 0.2, 2}, {3u, 0.8, 3}, {5u, 0.0, 0}, {5u, 1.0, 5}}) {
        const Chain chain = random_chain(random, {.tasks = tasks, .stateless = stateless});
        CHECK(std::ranges::count(chain.tasks, true, &ChainTask::replicable) == expected);
    }
}

TEST_CASE("in a study no strategy beats HeRAD, which is never slower than itself") {
    const auto results = study_strategies({}, {.big = 4, .little = 6}, 60, 1);
    REQUIRE(results.size() == 5);
    for (const StrategyResults& each : results) {
        CAPTURE(each.strategy);
        CHECK(std::ranges::min(each.slowdown) >= 1);
        CHECK(each.slowdown.size() == 60);
        CHECK(std::ranges::max(each.big) <= 4);
        CHECK(std::ranges::max(each.little) <= 6);
        if (each.strategy == "herad") CHECK(each.share_within(1) == 1);
    }
    CHECK(results[0].slowdown == study_strategies({}, {.big = 4, .little = 6}, 60, 1)[0].slowdown);
}

TEST_CASE("estimates know their errors") {
    CHECK(mean_of({1, 2, 3, 4}).value == 2.5);
    CHECK(mean_of({1, 2, 3, 4}).standard_error == doctest::Approx(std::sqrt(5.0 / 3 / 4)));
    CHECK(median_of({3, 1, 2}).value == 2);
    CHECK(median_of({4, 1, 3, 2}).value == 2.5);
    CHECK(share_of(512, 1000).standard_error == doctest::Approx(0.0158).epsilon(0.01));
    CHECK(share_of(0, 1000).standard_error > 0);
    std::mt19937_64 random(7);
    std::vector<double> medians;
    std::vector<double> errors;
    for (int i = 0; i < 400; ++i) {
        std::vector<double> sample(101);
        for (double& each : sample) each = std::normal_distribution(0.0, 1.0)(random);
        const Estimate median = median_of(sample);
        medians.push_back(median.value);
        errors.push_back(median.standard_error);
    }
    const double spread = mean_of(medians).standard_error * 20;  // deviation of one median
    CHECK(mean_of(errors).value == doctest::Approx(spread).epsilon(0.15));
}

TEST_CASE("agreement is three standard errors of a difference, and the rounding") {
    CHECK(agrees({1.0, 0.01}, 1000, {1.042}));
    CHECK_FALSE(agrees({1.0, 0.01}, 1000, {1.043}));
    CHECK(agrees({1.0, 0}, 1000, {1.0005, 0.001}));
    CHECK_FALSE(agrees({1.0, 0}, 1000, {1.0006, 0.001}));
    // A sample nine times as large as theirs has a third of their error.
    CHECK(agrees({1.0, 0.01}, 9000, {1.094}));
    CHECK_FALSE(agrees({1.0, 0.01}, 9000, {1.096}));
}

TEST_CASE("a setting of Table 1 agrees with what was published") {
    for (const PublishedRow& row : published_table("table1")) {
        if (row.count("big") != 10 || row.number("stateless") != 0.5) continue;
        CAPTURE(row.text("strategy"));
        static const auto results = study_strategies({.stateless = 0.5}, {.big = 10, .little = 10}, 1000, 1);
        const auto ours = std::ranges::find(results, row.text("strategy"), &StrategyResults::strategy);
        REQUIRE(ours != results.end());
        CHECK(agrees(mean_of(ours->slowdown), 1000, {row.number("mean"), 0.001}));
        CHECK(agrees(mean_of(ours->big), 1000, {row.number("mean_big"), 0.01}));
        CHECK(agrees(mean_of(ours->little), 1000, {row.number("mean_little"), 0.01}));
    }
}

}  // namespace tidemill
