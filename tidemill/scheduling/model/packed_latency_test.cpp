#include "tidemill/scheduling/model/packed_latency.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/bound.hpp"

namespace tidemill {
namespace {

Chain random_tasks(std::mt19937_64& random) {
    Chain chain{{"big", "little"}, {}};
    for (std::size_t task = 0; task < 2 + random() % 5; ++task) {
        const auto weight = static_cast<double>(5 + random() % 60);
        chain.tasks.push_back({fmt::format("t{}", task), random() % 3 == 0, {weight, 2 * weight}});
    }
    return chain;
}

SimReport simulated(const PacedSchedule& made, const Chain& chain) {
    return simulate(model_of(made.schedule, chain), 4000);
}

}  // namespace

TEST_CASE("with threads that own several stages a latency allows shorter periods, and events keep to it") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {50}}, {"c", false, {20}}}};
    const PacedSchedule stages = within_latency(101, chain, {.big = 2});
    const PacedSchedule packed = packed_within_latency(101, chain, {.big = 2});
    CHECK(stages.period_us == 100);  // 70 us take two frames, and 140 us
    CHECK(packed.period_us < 60);
    CHECK(packed.latency_us <= 101);
    CHECK_FALSE(packed.schedule.owners().empty());
    const SimReport report = simulated(packed, chain);
    CHECK(report.tokens == packed.frames);
    CHECK(report.period_us == doctest::Approx(packed.period_us).epsilon(0.01));
    CHECK(report.latency.mean_us <= 1.01 * packed.latency_us);
}

TEST_CASE("threads that own several stages are never worse than stages, nor better than cores could do") {
    std::mt19937_64 random(7);
    int gained = 0;
    for (int i = 0; i < 40; ++i) {
        const Chain chain = random_tasks(random);
        const Platform platform{.big = 1 + static_cast<int>(random() % 2),
                                .little = static_cast<int>(random() % 2)};
        const double bound_us = bound_of(chain, platform).period_us;
        const double most_us = 50 + static_cast<double>(random() % 300);
        const PacedSchedule limited = packed_within_latency(most_us, chain, platform);
        const PacedSchedule stages = within_latency(most_us, chain, platform);
        CHECK(std::max(limited.latency_us, most_us) <= std::max(stages.latency_us, most_us));
        CHECK(limited.period_us <= stages.period_us);
        CHECK(limited.period_us >= 0.999 * bound_us);
        const PacedSchedule least = packed_least_latency(chain, platform);
        CHECK(least.period_us <= least_latency(chain, platform).period_us);
        for (const PacedSchedule& made : {limited, least}) {
            check(made.schedule, chain);
            CHECK(made.schedule.frames_in_flight == static_cast<int>(made.frames));
            const SimReport report = simulated(made, chain);
            CHECK(report.period_us == doctest::Approx(made.period_us).epsilon(0.02));
            CHECK(report.latency.mean_us <= 1.02 * made.latency_us);
            gained += !made.schedule.owners().empty();
        }
    }
    CHECK(gained > 20);
}

TEST_CASE("of a schedule in stages, frames in flight by events are those by arithmetic") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", true, {50}}, {"c", false, {20}}}};
    const PacedSchedule made = least_latency(chain, {.big = 4});
    CHECK(paced_by_events(made.schedule, chain).frames == made.frames);
}

TEST_CASE("a latency that nothing meets is answered with the least there is, owners or not") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {50}}}};
    const PacedSchedule made = packed_within_latency(10, chain, {.big = 2});
    CHECK(made.latency_us == 80);
    CHECK(made.frames == 1);
    CHECK_THROWS_AS(packed_within_latency(-1, chain, {.big = 2}), ScheduleError);
}

}  // namespace tidemill
