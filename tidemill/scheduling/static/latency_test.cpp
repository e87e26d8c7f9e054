#include "tidemill/scheduling/static/latency.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/testing/cost_model_reference.hpp"

namespace tidemill {
namespace {

using doctest::Approx;
using internal::EverySchedule;
using internal::Instance;
using internal::ModelInstance;
using internal::PlainStage;
using internal::Ratio;
using internal::Wide;

constexpr unsigned kSeed = 2718;

/// A schedule's period and its latency alone, in hundredths of a unit.
struct Timed {
    Ratio period;
    std::uint64_t latency = 0;

    Ratio with(std::uint64_t frames) const { return std::max(period, Ratio{latency, frames}); }
};

Timed timed(const ModelInstance& problem, const std::vector<PlainStage>& stages) {
    Timed result{internal::measure(problem, stages).period};
    const std::vector<std::uint64_t> idle(problem.base.weights.size(), 0);
    for (PlainStage stage : stages) {
        stage.threads = 1;
        result.latency += internal::period_of(problem, stage, idle).num;
    }
    return result;
}

std::vector<Timed> every_schedule(const ModelInstance& problem) {
    std::vector<Timed> all;
    const auto add = [&](const std::vector<PlainStage>& stages) { all.push_back(timed(problem, stages)); };
    EverySchedule(problem, add).run();
    return all;
}

double in_us(const Ratio& hundredths) {
    return static_cast<double>(hundredths.num) / static_cast<double>(hundredths.den) / 100;
}

Ratio least_period(const std::vector<Timed>& all) {
    return std::ranges::min_element(all, {}, &Timed::period)->period;
}

double least_latency_us(const std::vector<Timed>& all, const Ratio& within) {
    std::uint64_t least = ~std::uint64_t{0};
    for (const Timed& each : all)
        if (each.period <= within) least = std::min(least, each.latency);
    return static_cast<double>(least) / 100;
}

// The least of any schedule with any number of frames in flight; nothing where none is within the limit.
std::optional<double> least_period_us(const std::vector<Timed>& all, std::uint64_t most_us) {
    std::optional<Ratio> best;
    for (const Timed& each : all) {
        for (std::uint64_t frames = 1; frames <= 20; ++frames) {
            const Ratio period = each.with(frames);
            if (Wide{period.num} * frames > Wide{most_us} * 100 * period.den) continue;
            if (!best || period < *best) best = period;
        }
    }
    return best ? std::optional(in_us(*best)) : std::nullopt;
}

ModelInstance any_problem(internal::Random& random, const internal::Shape& shape,
                          const internal::ModelParts& parts) {
    ModelInstance problem = random_model_instance(random, shape, parts);
    while (std::accumulate(problem.base.cores.begin(), problem.base.cores.end(), 0) > 4)
        --*std::ranges::max_element(problem.base.cores);
    return problem;
}

void compare_latencies(const ModelInstance& problem, const std::vector<Timed>& all, std::uint64_t number) {
    const Chain chain = to_chain(problem.base);
    const Platform cores = to_platform(problem.base);
    const CostModel model = problem.model();
    const PacedSchedule best = least_latency(chain, cores, {}, model);
    check(best.schedule, chain);
    check(best.schedule, cores);
    CHECK(period_us(best.schedule, chain, model) == Approx(in_us(least_period(all))));
    CHECK(latency_us(best.schedule, chain, model) == Approx(least_latency_us(all, least_period(all))));
    CHECK(best.period_us == Approx(period_us(best.schedule, chain, model)));
    CHECK(best.latency_us == Approx(static_cast<double>(best.frames) * best.period_us));

    const Ratio wanted = std::max(least_period(all), Ratio{100 * number, 1});
    const PacedSchedule slow =
        least_latency(chain, cores, {.wanted_period_us = static_cast<double>(number)}, model);
    CHECK(latency_us(slow.schedule, chain, model) == Approx(least_latency_us(all, wanted)));

    const PacedSchedule limited = within_latency(static_cast<double>(number), chain, cores, {}, model);
    check(limited.schedule, cores);
    if (const auto expected = least_period_us(all, number)) {
        CHECK(limited.period_us == Approx(*expected));
        CHECK(limited.latency_us <= Approx(static_cast<double>(number)));
    } else {
        CHECK(limited.latency_us == Approx(least_latency_us(all, {std::uint64_t{1} << 62, 1})));
    }
}

void compare_with_every_schedule(const internal::Shape& shape, const internal::ModelParts& parts, int count) {
    internal::Random random(kSeed + static_cast<unsigned>(shape.kinds));
    for (int i = 0; i < count; ++i) {
        const ModelInstance problem = any_problem(random, shape, parts);
        const std::vector<Timed> all = every_schedule(problem);
        const auto number = static_cast<std::uint64_t>(internal::uniform(random, 1, 80));
        INFO("seed ", kSeed, ", case ", i,
             fmt::format(": weights {} replicable {} cores {} number {}", problem.base.weights,
                         problem.base.replicable, problem.base.cores, number));
        if (all.empty())
            CHECK_THROWS_AS(least_latency(to_chain(problem.base), to_platform(problem.base)), ScheduleError);
        else
            compare_latencies(problem, all, number);
    }
}

const Chain& two_ways() {
    static const Chain chain{{"big", "little"},
                             {{"a", false, {10, 20}}, {"b", true, {40, 60}}, {"c", false, {20, 30}}}};
    return chain;
}

}  // namespace

TEST_CASE("least latencies, alone and within limits, equal trying every schedule in 10,000 cases") {
    const internal::ModelParts published{};
    compare_with_every_schedule({.max_tasks = 7, .kinds = 1, .max_cores = 4, .most_weight = 30}, published,
                                3000);
    compare_with_every_schedule({.max_tasks = 6, .kinds = 2, .max_cores = 3, .most_weight = 30}, published,
                                4000);
    compare_with_every_schedule(
        {.max_tasks = 5, .kinds = 3, .max_cores = 2, .most_weight = 12, .nowhere_of_ten = 2}, published,
        3000);
}

TEST_CASE("least latencies equal trying every schedule where stages cost and cores are shared") {
    compare_with_every_schedule({.max_tasks = 5, .kinds = 2, .max_cores = 3, .most_weight = 30},
                                {.costs = true, .shared_cores = true}, 1000);
}

TEST_CASE("latency: of equal periods the one on which a frame takes least, with the frames that it needs") {
    const PacedSchedule best = least_latency(two_ways(), Platform{.big = 3, .little = 1});
    CHECK(best.schedule.made_by == "latency");
    CHECK(best.period_us == 20);  // the first task on the little core, the others on two big ones and one
    CHECK(best.frames == 4);
    CHECK(latency_us(best.schedule, two_ways()) == 80);
    CHECK(best.latency_us == 80);
    const PacedSchedule slow =
        least_latency(two_ways(), Platform{.big = 3, .little = 1}, {.wanted_period_us = 70});
    CHECK(slow.schedule.stages.size() == 1);
    CHECK(latency_us(slow.schedule, two_ways()) == 70);
    CHECK(slow.frames == 1);
}

TEST_CASE("latency: a limit costs period, and one that nothing meets gets the least there is") {
    const Platform cores{.big = 3, .little = 1};
    const auto period = [&](double most_us) { return within_latency(most_us, two_ways(), cores).period_us; };
    CHECK(period(1000) == 20);
    CHECK(period(80) == 20);
    CHECK(period(79) == 70);  // on big cores alone, where two frames in flight would take 80
    CHECK(period(70) == 70);
    const PacedSchedule least = within_latency(69, two_ways(), cores);
    CHECK(least.latency_us == 70);
    CHECK(least.frames == 1);
}

TEST_CASE("latency: in a mixed stage a frame may be the slowest thread's") {
    Stage stage{.first_task = 0, .task_count = 1, .threads = 2, .core_kind = ""};
    stage.word = CyclicWord{{"big", "little"}, {0, 1, 0}};
    const Chain chain{{"big", "little"}, {{"work", true, {20, 40}}}};
    const PacedSchedule made = paced({.stages = {stage}}, chain);
    CHECK(latency_us(made.schedule, chain) == 40);
    CHECK(made.frames == 3);
}

TEST_CASE("latency: stages and hops count, once for each stage and at both ends of a cut") {
    const Chain& chain = two_ways();
    const CostModel hops{.stage_us = 1, .hop_us = 2};
    CHECK(latency_us(herad(chain, Platform{.big = 1}, {}, hops), chain, hops) == 71);
    CHECK(latency_us({.stages = {{0, 1, 1, "big"}, {1, 2, 1, "big"}}}, chain, hops) == 70 + 2 * (1 + 2));
}

TEST_CASE("latency: what cannot be counted or met is refused with a reason") {
    const Platform cores{.big = 2};
    const CostModel slow{.kinds = {{.kind = "big", .slowdown = {1, 1.1}}}};
    CHECK_THROWS_WITH(least_latency(two_ways(), cores, {}, slow),
                      doctest::Contains("cores of kind 'big' slow down as more are busy"));
    CHECK_THROWS_WITH(within_latency(0, two_ways(), cores), "latency: a limit of 0 us; expected more than 0");
    CHECK_THROWS_WITH(within_latency(10, two_ways(), cores, {.wanted_period_us = 5}),
                      "latency: a limit and a wanted period; give one of them");
    const Chain nowhere{{"big"}, {{"a", true, {kCannotRun}}}};
    CHECK_THROWS_AS(least_latency(nowhere, cores), ScheduleError);
    Platform many;
    many.set("big", 5000);
    many.set("little", 50000);
    CHECK_THROWS_WITH(least_latency(two_ways(), many), doctest::Contains("give fewer cores"));
}

}  // namespace tidemill
