#include "tidemill/scheduling/static/herad.hpp"

#include <cstdlib>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/scheduling/static/greedy.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/scheduling/static/stages/effort.hpp"

namespace tidemill {
namespace {

using internal::BruteForce;
using internal::Instance;
using internal::Outcome;
using internal::PublishedHerad;
using internal::random_instance;
using internal::Shape;
using internal::to_chain;
using internal::to_platform;

constexpr unsigned kSeed = 20250;

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
    std::mt19937_64 random(kSeed + static_cast<unsigned>(shape.kinds));
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

// With the decimals below more than 100,000 problems, in about a second.
TEST_CASE("herad equals trying everything on one, two, three and four kinds") {
    compare_with_brute_force({.max_tasks = 7, .kinds = 1, .max_cores = 4}, cases(12'000), 1);
    compare_with_brute_force({.max_tasks = 6, .kinds = 2, .max_cores = 3}, cases(50'000), 1);
    compare_with_brute_force({.max_tasks = 9, .kinds = 2, .max_cores = 2}, cases(5'000), 1);
    compare_with_brute_force({.max_tasks = 4, .kinds = 3, .max_cores = 2}, cases(20'000), 1);
    compare_with_brute_force({.max_tasks = 4, .kinds = 4, .max_cores = 1}, cases(10'000), 1);
}

TEST_CASE("herad equals optima found by exhaustive search elsewhere") {
    const std::vector<std::pair<Instance, Outcome>> known{
        {{{{129294, 38119, 361503, 184203}, {535308, 131747, 470819, 867262}},
          {true, true, false, true},
          {3, 4}},
         {{361503, 1}, {2, 2}, 3}},
        {{{{140942, 125899, 158405}, {263160, 185962, 237203}}, {false, true, true}, {3, 4}},
         {{140942, 1}, {1, 4}, 2}},
        {{{{5, 5, 1, 10, 5, 8, 6}, {19, 24, 3, 3, 1, 5, 3}},
          {true, true, true, true, true, true, true},
          {1, 3}},
         {{10, 1}, {1, 2}, 2}},
        {{{{5, 2, 1, 2, 2, 5, 3}, {24, 1, 2, 4, 9, 21, 15}},
          {false, false, false, false, false, false, false},
          {4, 4}},
         {{5, 1}, {4, 1}, 5}},
        {{{{2, 4, 2, 5, 4, 4, 1}, {5, 19, 9, 13, 10, 12, 5}},
          {true, true, true, true, true, false, false},
          {4, 3}},
         {{5, 1}, {4, 1}, 3}},
        {{{{11, 72, 24, 91, 63, 36, 13}, {32, 310, 6, 147, 128, 139, 41}},
          {true, true, true, true, true, true, true},
          {1, 3}},
         {{455, 3}, {1, 3}, 2}},
        {{{{1, 1}, {4, 3}}, {true, true}, {1, 2}}, {{3, 2}, {1, 2}, 2}},
        {{{{91, 1}, {292, 3}}, {true, false}, {2, 3}}, {{91, 2}, {2, 1}, 2}},
    };
    for (const auto& one : known) {
        CAPTURE(describe(one.first));
        CHECK(solve(one.first) == one.second);
    }
}

TEST_CASE("decimal weights are scaled exactly") {
    compare_with_brute_force({.max_tasks = 6, .kinds = 2, .max_cores = 3, .most_weight = 30}, cases(10'000),
                             10);
    compare_with_brute_force({.max_tasks = 6, .kinds = 2, .max_cores = 3, .most_weight = 30}, cases(10'000),
                             1000);
    // 0.1 + 0.2 is not 0.3 in binary: a tie that floating point would miss.
    const Instance tie{{{1, 2, 3}}, {false, false, false}, {2}};
    CHECK(solve(tie, 10) == Outcome{{3, 1}, {2}, 2});
}

TEST_CASE("herad equals the published dynamic programme on larger chains") {
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < cases(600); ++i) {
        const Instance instance =
            random_instance(random, {.max_tasks = 24, .kinds = 2, .max_cores = 9, .most_weight = 40});
        const auto published = PublishedHerad(instance).best();
        const Outcome ours = solve(instance);
        CAPTURE(describe(instance));
        CHECK(static_cast<double>(ours.period.num) / static_cast<double>(ours.period.den) ==
              published.period);
        CHECK(ours.cores[0] == static_cast<std::uint64_t>(published.big));
        CHECK(ours.cores[1] == static_cast<std::uint64_t>(published.little));
    }
}

TEST_CASE("weights, cores and ties at the ends of their ranges") {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
    CHECK(solve({{{0, 0, 0}}, {true, false, true}, {4}}) == Outcome{{0, 1}, {1}, 1});
    CHECK(solve({{{7, 7, 7, 7}}, {false, false, false, false}, {2}}) == Outcome{{14, 1}, {2}, 2});
    CHECK(solve({{{kMost, kMost - 1}, {kMost, kMost}}, {true, true}, {1, 1}}) ==
          Outcome{{kMost, 1}, {1, 1}, 2});
    CHECK(solve({{{kMost, kMost}}, {true, true}, {3}}) == Outcome{{2 * kMost, 3}, {3}, 1});
    // The cores after the comma never help: nothing is replicable.
    CHECK(solve({{{5}, {4}}, {false}, {1, 1000}}) == Outcome{{4, 1}, {0, 1}, 1});
    CHECK(solve({{{3}}, {true}, {20'000}}) == Outcome{{3, 20'000}, {20'000}, 1});
}

TEST_CASE("a kind may be missing or have no cores") {
    const Chain chain{{"big", "little"}, {{"a", false, {2, 3}}, {"b", true, {4, 6}}}};
    CHECK(*herad(chain, Platform{.big = 2}).period_us == 4);
    CHECK(*herad(chain, Platform{.little = 3}).period_us == 3);
    CHECK(herad(chain, Platform{.big = 1, .little = 1}).stages.size() == 2);
    const Chain one_kind{{"little"}, {{"a", false, {2}}}};
    CHECK(*herad(one_kind, Platform{.big = 0, .little = 1}).period_us == 2);
}

TEST_CASE("what cannot be scheduled exactly is refused with a reason") {
    const auto one_task = [](double weight) { return Chain{{"big"}, {{"a", true, {weight}}}}; };
    const auto many_tasks = [](int count, double weight) {
        Chain chain{{"big"}, {}};
        for (int i = 0; i < count; ++i) chain.tasks.push_back({fmt::format("t{}", i), true, {weight}});
        return chain;
    };
    CHECK_THROWS_WITH(herad(one_task(1), Platform{}),
                      "platform: no cores; give at least one, for instance \"big=1\"");
    CHECK_THROWS_WITH(herad(one_task(1), Platform{.little = 1}),
                      "the chain has no weights for core kind 'little', only for: big");
    CHECK_THROWS_AS(herad(one_task(1), Platform{.big = -1}), ScheduleError);
    CHECK_THROWS_AS(herad(one_task(1e300), Platform{.big = 1}), ScheduleError);
    CHECK_THROWS_AS(herad(one_task(0.1 + 0.2), Platform{.big = 1}), ScheduleError);
    CHECK_THROWS_AS(herad(one_task(5e-324), Platform{.big = 1}), ScheduleError);
    CHECK_NOTHROW(herad(one_task(1e-15), Platform{.big = 1}));
    CHECK_NOTHROW(herad(many_tasks(500, 0x1p53), Platform{.big = 3}));
    CHECK_THROWS_AS(herad(many_tasks(600, 0x1p53), Platform{.big = 3}), ScheduleError);
    Platform crowd{.big = 1};
    Chain chain = one_task(1);
    for (int kind = 0; kind < 5; ++kind) {
        crowd.set(fmt::format("k{}", kind), 1'000'000);
        chain.kinds.push_back(fmt::format("k{}", kind));
        chain.tasks[0].weight_us.push_back(1);
    }
    CHECK_THROWS_AS(herad(chain, crowd), ScheduleError);
    CHECK_THROWS_AS(herad(many_tasks(100, 1), Platform{.big = 1'000'000'000}), ScheduleError);
}

TEST_CASE(
    "thousands of cores of each kind are scheduled, and a longer search is refused by its number of steps") {
    Chain chain{{"big", "little"}, {}};
    for (int i = 0; i < 10; ++i) chain.tasks.push_back({fmt::format("t{}", i), true, {100, 100}});
    const Schedule found = herad(chain, Platform{.big = 20'000, .little = 20'000});
    CHECK(*found.period_us == 1000.0 / 40'000);
    internal::Effort effort("herad");
    effort.spend(100'000'000'000);
    CHECK_THROWS_WITH(effort.spend(1),
                      "herad: this takes more than 100000000000 steps, which is the bound; give fewer tasks, "
                      "cores or slowdowns");
}

TEST_CASE("a long chain takes time with its length, not with its square") {
    Chain chain{{"big", "little"}, {}};
    for (int i = 0; i < 50'000; ++i)
        chain.tasks.push_back({fmt::format("t{}", i), i % 10'007 != 0, {1.0 + i % 17, 2.0 + i % 23}});
    const Platform platform{.big = 4, .little = 4};
    const Schedule schedule = herad(chain, platform);
    CHECK_NOTHROW(check(schedule, chain));
    CHECK(*schedule.period_us <= *fertac(chain, platform).period_us);
}

}  // namespace tidemill
