#include "tidemill/scheduling/static/bound.hpp"

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "tidemill/scheduling/static/cluster_placement.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/scheduling/static/packed.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/strategy.hpp"
#include "tidemill/scheduling/static/testing/cost_model_reference.hpp"
#include "tidemill/scheduling/static/testing/split_reference.hpp"

namespace tidemill {
namespace {

using internal::Instance;
using internal::Random;
using internal::random_instance;
using internal::to_chain;
using internal::to_platform;
using internal::uniform;

constexpr unsigned kSeed = 1717;
constexpr double kRounding = 1 + 1e-11;

double bound(const Instance& instance) {
    return bound_of(to_chain(instance), to_platform(instance)).period_us;
}

bool runs_somewhere(const Instance& instance, std::size_t task) {
    for (std::size_t kind = 0; kind < instance.cores.size(); ++kind)
        if (instance.cores[kind] > 0 && instance.weights[kind][task] != internal::kNowhere) return true;
    return false;
}

// Small weights with many ties and zeros, or spread over five orders of magnitude, some tasks not on all
// kinds. Weights of 10^15 that differ in the last digit are no task for a plain simplex method.
Instance any_instance(Random& random, int kinds) {
    const int most = std::vector<int>{3, 30, 100'000}[static_cast<std::size_t>(uniform(random, 0, 2))];
    Instance instance = random_instance(random, {.max_tasks = 7,
                                                 .kinds = kinds,
                                                 .max_cores = 4,
                                                 .most_weight = most,
                                                 .nowhere_of_ten = uniform(random, 0, 3)});
    for (std::size_t task = 0; task < instance.size(); ++task)
        if (!runs_somewhere(instance, task)) return any_instance(random, kinds);
    return instance;
}

void compare_with_dual(int kinds, int count) {
    Random random(kSeed + static_cast<unsigned>(kinds));
    int wrong = 0;
    for (int i = 0; i < count && wrong < 3; ++i) {
        const Instance instance = any_instance(random, kinds);
        const double expected = internal::least_period_by_dual(instance);
        if (std::abs(bound(instance) - expected) <= 1e-9 * expected) continue;
        ++wrong;
        MESSAGE(fmt::format("seed {}, case {}: {} instead of {}: weights {} replicable {} cores {}", kSeed, i,
                            bound(instance), expected, instance.weights, instance.replicable,
                            instance.cores));
    }
    CHECK(wrong == 0);
}

Profile published(const std::string& machine) {
    return read_profile(std::filesystem::path(TIDEMILL_DATA) / "profiles" /
                        fmt::format("dvbs2-rx-{}.json", machine));
}

Instance arbitrary_instance(const internal::Shape& shape) {
    Random random(*rc::gen::arbitrary<unsigned>());
    return random_instance(random, shape);
}

}  // namespace

TEST_CASE("the bound equals the textbook's solution of its dual programme in 10,000 cases and more") {
    compare_with_dual(1, 1'000);
    compare_with_dual(2, 4'000);
    compare_with_dual(3, 10'000);
    compare_with_dual(5, 1'000);
}

TEST_CASE("the receiver's bounds on the published profiles") {
    struct Expected {
        std::string machine;
        std::vector<double> period_us;  // on 1+1, 1+3 and 2+2 cores
    };
    const std::vector<Platform> platforms{
        {.big = 1, .little = 1}, {.big = 1, .little = 3}, {.big = 2, .little = 2}};
    for (const Expected& expected :
         {Expected{"opi5", {12138, 7358, 6069}}, Expected{"m1u", {5160, 3271, 2580}},
          Expected{"ai370", {8728, 4686, 4364}}, Expected{"x7ti", {7014, 3954, 3507}}}) {
        CAPTURE(expected.machine);
        for (std::size_t i = 0; i < platforms.size(); ++i)
            CHECK(std::round(bound_of(published(expected.machine), platforms[i]).period_us) ==
                  expected.period_us[i]);
    }
}

TEST_CASE("on a full machine the largest task with state decides, and is named") {
    const Bound bound = bound_of(published("m1u"), {.big = 16, .little = 4});
    CHECK(bound.period_us == doctest::Approx(950.95));
    CHECK(bound.sequential_task == "Gardner Syn.synchronize");
    CHECK_FALSE(bound_of(published("m1u"), {.big = 2, .little = 2}).sequential_task);
}

TEST_CASE("a sequential task may be worked on by both kinds in turn, but never by both at once") {
    // 10 us on big, 30 on little; the other task fits little as well as big. With a share of 1/4 of its
    // frames on little, the first takes 15 us a frame.
    const Instance instance{{{10, 20}, {30, 20}}, {false, true}, {1, 1}};
    CHECK(bound(instance) == doctest::Approx(15));
    const Instance alone{{{10}, {11}}, {false}, {4, 4}};
    CHECK(bound(alone) == 10);
}

TEST_CASE("no schedule is below the bound, whatever makes it") {
    CHECK(rc::check("brute force", [] {
        const Instance instance =
            arbitrary_instance({.max_tasks = 5, .kinds = *rc::gen::inRange(1, 4), .max_cores = 3});
        const auto best = internal::BruteForce(instance).best().period;
        const double best_us = static_cast<double>(best.num) / static_cast<double>(best.den);
        RC_ASSERT(bound(instance) <= best_us * kRounding);
    }));
    CHECK(rc::check("herad on long chains", [] {
        const Instance instance = arbitrary_instance({.max_tasks = 40, .kinds = 3, .max_cores = 9});
        const Platform platform = to_platform(instance);
        RC_ASSERT(bound(instance) <= *herad(to_chain(instance), platform).period_us * kRounding);
    }));
}

TEST_CASE("no schedule is below the bound where cores slow down or are shared") {
    CHECK(rc::check("herad under models", [] {
        const Instance instance =
            arbitrary_instance({.max_tasks = 6, .kinds = 2, .max_cores = 3, .most_weight = 1000});
        const Chain chain = to_chain(instance);
        const Platform platform = to_platform(instance);
        CostModel model;
        for (const std::string& kind : chain.kinds) {
            KindCosts costs{.kind = kind};
            for (const int more : *rc::gen::container<std::vector<int>>(3, rc::gen::inRange(0, 8)))
                costs.slowdown.push_back((costs.slowdown.empty() ? 1 : costs.slowdown.back()) + more / 8.0);
            if (*rc::gen::arbitrary<bool>()) costs.shared_slowdown = *rc::gen::inRange(8, 20) / 8.0;
            model.kinds.push_back(costs);
        }
        const Schedule schedule = herad(chain, platform, {}, model);
        RC_ASSERT(bound_of(chain, platform, model).period_us <=
                  period_us(schedule, chain, model) * kRounding);
    }));
}

TEST_CASE("the bound grows with the weights, and never with the cores") {
    CHECK(rc::check("weights times a factor", [] {
        const Instance instance = arbitrary_instance({.max_tasks = 7, .kinds = 3, .max_cores = 4});
        const double factor = *rc::gen::inRange(1, 1000);
        const double scaled = bound_of(to_chain(instance, 1 / factor), to_platform(instance)).period_us;
        RC_ASSERT(std::abs(scaled - factor * bound(instance)) <= 1e-11 * scaled);
    }));
    CHECK(rc::check("one core more", [] {
        Instance instance = arbitrary_instance({.max_tasks = 7, .kinds = 3, .max_cores = 4});
        const double before = bound(instance);
        ++instance.cores[*rc::gen::inRange<std::size_t>(0, 3)];
        RC_ASSERT(bound(instance) <= before * kRounding);
    }));
}

TEST_CASE("a bound needs cores, of kinds that the chain weighs") {
    const Chain chain{{"big"}, {{"a", true, {1}}}};
    CHECK_THROWS_WITH_AS(bound_of(chain, {}), doctest::Contains("platform: no cores"), ScheduleError);
    CHECK_THROWS_WITH_AS(bound_of(chain, {.little = 1}), doctest::Contains("no weights for core kind"),
                         ScheduleError);
    CHECK(bound_of({{"big"}, {{"a", true, {0}}}}, {.big = 1}).period_us == 0);
}

TEST_CASE("what stands between a schedule and the bound is said in one sentence") {
    const Chain chain{{"big", "little"},
                      {{"filter.filter", false, {10, 30}}, {"decode.decode", true, {40, 80}}}};
    const auto said = [&](const Platform& platform, std::optional<double> wanted_us = {}) {
        const Schedule schedule = herad(chain, platform, {.wanted_period_us = wanted_us});
        return distance_to_bound(schedule, chain, platform, {}, *schedule.period_us, wanted_us);
    };
    CHECK(said({.big = 5}).between == "`filter.filter` is sequential and bounds the period");
    CHECK(said({.big = 5}).percent() == 0);
    CHECK(said({.big = 1}).line() ==
          "bound 50.00 us: the period is 0.0 % above it; the cores can do no more work\n");
    CHECK(said({.big = 1, .little = 2}).bound_us == doctest::Approx(25));
    CHECK(said({.big = 1, .little = 2}).line() ==
          "bound 25.00 us: the period is 60.0 % above it; 2 little cores idle 62 %: no stage of this "
          "schedule fits them\n"
          "stages could do 30.00 us, 20.0 % above the bound: --strategy mixed\n");
    CHECK(said({.big = 5}, 100).between == "a period of 100.00 us was enough");
}

TEST_CASE("of far cuts it is said what the period would be if they were near") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {30}}, {"c", false, {15}}}};
    const Platform cores{.big = 3};
    const CostModel model{.far_cuts = {{"big", {{0, 1}, {2}}, 5, 0}}};
    Schedule schedule = herad(chain, cores);
    place_in_clusters(schedule, chain, model);
    const double far_us = period_us(schedule, chain, model);
    CHECK(far_us == 35);
    CHECK(distance_to_bound(schedule, chain, cores, model, far_us).between ==
          "cuts between clusters of cores are far: were they near, it would be 30.00 us");
}

TEST_CASE("of threads that own several stages it is said that nothing else fits beside those") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {50}}, {"c", false, {15}}}};
    const Schedule schedule = packed(chain, {.big = 2});
    CHECK(distance_to_bound(schedule, chain, {.big = 2}, {}, 125).between ==
          "2 big cores idle 62 %: no other stage fits beside those of their threads");
    Chain two_kinds{{"big", "little"}, chain.tasks};
    for (ChainTask& task : two_kinds.tasks) task.weight_us.push_back(80);
    CHECK(distance_to_bound(schedule, two_kinds, {.big = 2, .little = 4}, {}, 55).between ==
          "4 little cores idle 100 %: no stage of this schedule fits them");
}

}  // namespace tidemill
