#include "tidemill/schedule/herad.hpp"

#include <cstdlib>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/schedule/detail_reference.hpp"

namespace tidemill {
namespace {

using detail::BruteForce;
using detail::Instance;
using detail::Outcome;
using detail::PublishedHerad;
using detail::to_chain;
using detail::to_platform;

constexpr unsigned kSeed = 20250;

using Random = std::mt19937_64;

int uniform(Random& random, int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
}

struct Shape {
    int max_tasks;
    int kinds;
    int max_cores;
};

// Weights come from small ranges so that ties and zeros are common, or from one huge one.
std::uint64_t random_weight(Random& random, int flavour) {
    switch (flavour) {
        case 0:
            return static_cast<std::uint64_t>(uniform(random, 0, 3));
        case 1:
            return static_cast<std::uint64_t>(uniform(random, 1, 30));
        case 2:
            return static_cast<std::uint64_t>(uniform(random, 5, 6));
        default:
            return 1'000'000'000'000'000U + static_cast<std::uint64_t>(uniform(random, 0, 9));
    }
}

Instance random_instance(Random& random, const Shape& shape) {
    Instance instance;
    const int tasks = uniform(random, 1, shape.max_tasks);
    const int flavour = uniform(random, 0, 3);
    const int sequential_of_ten = uniform(random, 0, 10);
    for (int i = 0; i < tasks; ++i) instance.replicable.push_back(uniform(random, 1, 10) > sequential_of_ten);
    for (int kind = 0; kind < shape.kinds; ++kind) {
        instance.cores.push_back(uniform(random, kind == 0 ? 1 : 0, shape.max_cores));
        auto& weights = instance.weights.emplace_back();
        for (int i = 0; i < tasks; ++i) weights.push_back(random_weight(random, flavour));
    }
    std::shuffle(instance.cores.begin(), instance.cores.end(), random);
    return instance;
}

std::string describe(const Instance& instance) {
    return fmt::format("weights {} replicable {} cores {}", instance.weights, instance.replicable,
                       instance.cores);
}

Outcome solve(const Instance& instance, double units_per_us = 1) {
    const Chain chain = to_chain(instance, units_per_us);
    const Platform platform = to_platform(instance);
    const Schedule schedule = herad(chain, platform);
    check(schedule, chain);
    check(schedule, platform);
    return outcome(instance, schedule);
}

int cases(int usual) {
    const char* wanted = std::getenv("TIDEMILL_SCHEDULE_CASES");
    return wanted ? std::atoi(wanted) : usual;
}

void compare_with_brute_force(const Shape& shape, int count, double units_per_us) {
    Random random(kSeed + static_cast<unsigned>(shape.kinds));
    int wrong = 0;
    for (int i = 0; i < count && wrong < 3; ++i) {
        const Instance instance = random_instance(random, shape);
        if (solve(instance, units_per_us) == BruteForce(instance).best()) continue;
        ++wrong;
        MESSAGE("seed ", kSeed, ", case ", i, ": ", describe(instance));
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("herad equals trying everything on one, two, three and four kinds") {
    compare_with_brute_force({.max_tasks = 7, .kinds = 1, .max_cores = 4}, cases(4000), 1);
    compare_with_brute_force({.max_tasks = 6, .kinds = 2, .max_cores = 3}, cases(14000), 1);
    compare_with_brute_force({.max_tasks = 4, .kinds = 3, .max_cores = 2}, cases(6000), 1);
    compare_with_brute_force({.max_tasks = 4, .kinds = 4, .max_cores = 1}, cases(3000), 1);
}
}  // namespace tidemill
