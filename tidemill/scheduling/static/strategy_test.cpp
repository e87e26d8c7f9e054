#include "tidemill/scheduling/static/strategy.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/scheduling/static/greedy.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"

namespace tidemill {
namespace {

using internal::Instance;
using internal::Outcome;
using internal::to_chain;
using internal::to_platform;

constexpr unsigned kSeed = 4711;

Outcome outcome_of(std::string_view name, const Instance& instance) {
    const Schedule schedule = strategy(name).schedule(to_chain(instance), to_platform(instance));
    check(schedule, to_chain(instance));
    check(schedule, to_platform(instance));
    CHECK(schedule.made_by == name);
    return internal::outcome(instance, schedule);
}

}  // namespace

TEST_CASE("strategies are found by name, and unknown names answered with the known ones") {
    for (const auto& known : strategies()) CHECK(strategy(known.name).name == known.name);
    CHECK_THROWS_WITH(strategy("best"),
                      "strategy 'best' is not known; choose one of: packed, mixed, herad, 2catac, fertac, "
                      "otac-big, otac-little");
}

TEST_CASE("all strategies on one chain whose results are published") {
    // Chain 39 of the published examples.
    Instance instance{{{32, 32, 97, 85, 38, 65, 11}, {151, 39, 335, 395, 140, 159, 25}},
                      {false, true, true, false, true, true, false},
                      {}};
    struct Expected {
        std::vector<int> cores;
        std::vector<std::pair<std::string_view, Outcome>> outcomes;
    };
    const std::vector<Expected> published{
        {{2, 2},
         {{"herad", {{161, 1}, {2, 2}, 4}},
          {"2catac", {{161, 1}, {2, 2}, 4}},
          {"fertac", {{182, 1}, {2, 2}, 4}},
          {"otac-big", {{199, 1}, {2, 0}, 2}},
          {"otac-little", {{719, 1}, {0, 2}, 2}}}},
        {{3, 3},
         {{"herad", {{114, 1}, {3, 3}, 4}},
          {"2catac", {{114, 1}, {3, 3}, 4}},
          {"otac-big", {{161, 1}, {3, 0}, 3}},
          {"otac-little", {{525, 1}, {0, 3}, 3}}}},
        {{10, 10},
         {{"herad", {{85, 1}, {2, 9}, 5}},
          {"fertac", {{85, 1}, {2, 9}, 5}},
          {"otac-big", {{85, 1}, {6, 0}, 5}},
          {"otac-little", {{395, 1}, {0, 4}, 4}}}},
        {{16, 4}, {{"herad", {{85, 1}, {4, 4}, 5}}, {"fertac", {{85, 1}, {4, 4}, 5}}}},
    };
    for (const auto& [cores, outcomes] : published) {
        instance.cores = cores;
        for (const auto& [name, expected] : outcomes) {
            CAPTURE(std::string(name));
            CAPTURE(cores[0]);
            CHECK(outcome_of(name, instance) == expected);
        }
    }
}

TEST_CASE("greedy strategies always find something valid and never beat the optimum") {
    MESSAGE("seed ", kSeed);
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < 2000; ++i) {
        const Instance instance =
            internal::random_instance(random, {.max_tasks = 12, .kinds = 1 + i % 4, .max_cores = 4});
        const Outcome optimum = outcome_of("herad", instance);
        for (const char* name : {"fertac", "2catac"}) {
            CAPTURE(i);
            CAPTURE(std::string(name));
            CHECK_FALSE(outcome_of(name, instance) < optimum);
        }
    }
}

TEST_CASE("otac finds the least period on its own kind") {
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < 2000; ++i) {
        Instance instance = internal::random_instance(random, {.max_tasks = 12, .kinds = 1, .max_cores = 6});
        CAPTURE(i);
        CHECK(outcome_of("otac-big", instance).period == outcome_of("herad", instance).period);
    }
}

TEST_CASE("2catac says how deep and how wide it goes") {
    Chain chain{{"big"}, {}};
    for (int i = 0; i < 10'000; ++i) chain.tasks.push_back({fmt::format("t{}", i), true, {1}});
    CHECK_THROWS_WITH(
        two_catac(chain, Platform{.big = 10'000}),
        "2catac: more than 8192 tasks on more than 8192 cores; give fewer of either, or use fertac");
    CHECK(*fertac(chain, Platform{.big = 10'000}).period_us == 1);
}

TEST_CASE("otac without cores of its kind says so") {
    const Chain chain{{"big", "little"}, {{"a", false, {2, 3}}}};
    CHECK_THROWS_WITH(otac(chain, Platform{.big = 2}, "little"),
                      "otac: the platform has no 'little' cores; choose a kind that it has");
}

TEST_CASE("what made the published code crash or hang") {
    // No schedule at least weight plus lower bound: the published upper bound is not feasible here.
    Instance heavy{{std::vector<std::uint64_t>(100, 50), std::vector<std::uint64_t>(100, 90)},
                   std::vector<bool>(100, false),
                   {2, 2}};
    const Instance zeros{{{0, 0, 0}, {0, 0, 0}}, {true, false, true}, {2, 2}};
    for (const auto& known : strategies()) {
        CAPTURE(std::string(known.name));
        CHECK_NOTHROW(outcome_of(known.name, heavy));
        CHECK(outcome_of(known.name, zeros).period == internal::Ratio{0, 1});
    }
}

}  // namespace tidemill
