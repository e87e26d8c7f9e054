#pragma once

#include <doctest/doctest.h>

#include "tidemill/scheduling/static/testing/cost_model_reference.hpp"

namespace tidemill::internal {

inline constexpr unsigned kModelSeed = 811;

/// herad's schedule, or the best mixed one, as the definitions measure it; its own period and power must say
/// the same.
inline Measured solved(const ModelInstance& problem, const Objective& objective) {
    const Chain chain = to_chain(problem.base);
    const Platform platform = to_platform(problem.base);
    const Schedule schedule = problem.most_letters > 0
                                  ? mixed(chain, platform, objective, problem.model(), problem.most_letters)
                                  : herad(chain, platform, objective, problem.model());
    check(schedule, chain);
    check(schedule, platform);
    const Measured result = measure(problem, plain_stages(problem.base, schedule));
    const double period =
        static_cast<double>(result.period.num) / static_cast<double>(result.period.den) / 100;
    CHECK(*schedule.period_us == doctest::Approx(period));
    CHECK(power_w(schedule, platform, problem.model()) == doctest::Approx(static_cast<double>(result.power)));
    return result;
}

/// The members that a preference decides by, in its order.
inline auto key(const Measured& m, Preference preference, const Ratio& wanted) {
    const std::uint64_t first = preference == Preference::kLeastPower     ? m.power
                                : preference == Preference::kFewestStages ? m.stages
                                                                          : 0;
    return std::tuple(std::max(m.period, wanted), first, m.halves, m.stages);
}

/// The best of all schedules for a preference.
inline Measured best_of(const std::vector<Measured>& all, Preference preference, const Ratio& wanted = {}) {
    return *std::ranges::min_element(all, [&](const Measured& a, const Measured& b) {
        return key(a, preference, wanted) < key(b, preference, wanted);
    });
}

/// Checks every preference at the least period.
inline void compare_preferences(const ModelInstance& problem, const std::vector<Measured>& all) {
    for (const Preference preference :
         {Preference::kFewestCores, Preference::kLeastPower, Preference::kFewestStages}) {
        CAPTURE(std::string(to_string(preference)));
        const Measured found = solved(problem, {.among_equals = preference});
        CHECK(key(found, preference, {}) == key(best_of(all, preference), preference, {}));
    }
}

/// Checks least power at a wanted period, where only what is drawn and whether it is kept are promised.
inline void compare_wanted(const ModelInstance& problem, const std::vector<Measured>& all, int wanted_us) {
    const Ratio wanted{static_cast<std::uint64_t>(wanted_us) * 100, 1};
    const Measured found = solved(problem, {.among_equals = Preference::kLeastPower,
                                            .wanted_period_us = static_cast<double>(wanted_us)});
    const Measured best = best_of(all, Preference::kLeastPower, wanted);
    CHECK(std::max(found.period, wanted) == std::max(best.period, wanted));
    CHECK(found.power == best.power);
}

/// Checks the whole Pareto front of period and power.
inline void compare_front(const ModelInstance& problem, std::vector<Measured> all) {
    if (!problem.model().has_power() || problem.most_letters > 0) return;
    std::ranges::sort(all, [](const Measured& a, const Measured& b) {
        return std::tie(a.period, a.power) < std::tie(b.period, b.power);
    });
    std::vector<Measured> expected;
    for (const Measured& point : all)
        if (expected.empty() || point.power < expected.back().power) expected.push_back(point);
    const auto front = pareto_front(to_chain(problem.base), to_platform(problem.base), problem.model());
    REQUIRE(front.size() == expected.size());
    for (std::size_t i = 0; i < front.size(); ++i) {
        const Measured found = measure(problem, plain_stages(problem.base, front[i].schedule));
        CHECK(found.period == expected[i].period);
        CHECK(found.power == expected[i].power);
    }
}

/// Checks random problems of a shape against all of their schedules.
inline void compare_with_enumeration(const Shape& shape, const ModelParts& parts, int count,
                                     std::size_t most_letters = 0) {
    std::mt19937_64 random(kModelSeed);
    for (int i = 0; i < count; ++i) {
        ModelInstance problem = random_model_instance(random, shape, parts);
        problem.most_letters = most_letters;
        const std::vector<Measured> all = all_schedules(problem);
        INFO("seed ", kModelSeed, ", case ", i);
        if (all.empty()) {
            CHECK_THROWS_AS(solved(problem, {}), ScheduleError);
            continue;
        }
        compare_preferences(problem, all);
        compare_wanted(problem, all, uniform(random, 1, 60));
        compare_front(problem, all);
    }
}

}  // namespace tidemill::internal
