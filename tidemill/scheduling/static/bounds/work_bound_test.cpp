#include "tidemill/scheduling/static/bounds/work_bound.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/internal/reference.hpp"

namespace tidemill::internal {
namespace {

constexpr unsigned kSeed = 99;

Ratio bound(const Instance& instance) {
    return WorkBound(exact_chain(to_chain(instance), to_platform(instance))).period();
}

double value(const Ratio& ratio) {
    return static_cast<double>(ratio.num) / static_cast<double>(ratio.den);
}

}  // namespace

TEST_CASE("no schedule beats the lower bound") {
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < 3000; ++i) {
        const Instance instance =
            random_instance(random, {.max_tasks = 5, .kinds = 1 + i % 3, .max_cores = 3});
        CAPTURE(i);
        CHECK(bound(instance) <= BruteForce(instance).best().period);
    }
}

TEST_CASE("the bound is rounded down where work times price leaves 64 bits") {
    for (const int cores : {1, 3, 5, 7}) {
        const Instance heavy{{{std::uint64_t{1} << 53}}, {true}, {cores}};
        CHECK(bound(heavy) <= Ratio{std::uint64_t{1} << 53, static_cast<std::uint64_t>(cores)});
    }
}

TEST_CASE("work that divides well is bounded within 2 % of what the cores can do") {
    // Little cores take three times as long: 4 big and 6 little are worth 6 big ones.
    const Instance even{{std::vector<std::uint64_t>(60, 100), std::vector<std::uint64_t>(60, 300)},
                        std::vector<bool>(60, true),
                        {4, 6}};
    CHECK(value(bound(even)) <= 1000);
    CHECK(value(bound(even)) > 980);
    // Half of the tasks suit the one kind, half the other: 30 * 100 on each, five cores of each.
    Instance split{{{}, {}}, std::vector<bool>(60, true), {5, 5}};
    for (int i = 0; i < 60; ++i) {
        split.weights[0].push_back(i % 2 == 0 ? 100 : 900);
        split.weights[1].push_back(i % 2 == 0 ? 900 : 100);
    }
    CHECK(value(bound(split)) <= 600);
    CHECK(value(bound(split)) > 588);
}

}  // namespace tidemill::internal
