#include "tidemill/scheduling/static/frequencies.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace tidemill {
namespace {

// Half the speed at a quarter of the power.
Chain two_tasks() {
    return {{"big@2400", "big@1200", "little"}, {{"a", false, {10, 20, 30}}, {"b", true, {30, 60, 70}}}};
}

CostModel watts() {
    return {.kinds = parse_watts("big@2400=4.0/0.4,big@1200=1.0/0.1,little=0.5")};
}

std::string refused(const Chain& chain, const Platform& cores) {
    try {
        at_each_frequency(chain, cores);
    } catch (const ScheduleError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("frequencies: each combination of all kinds' is a platform, and plain kinds are as they are") {
    const std::vector<Platform> platforms = at_each_frequency(two_tasks(), {.big = 2, .little = 1});
    REQUIRE(platforms.size() == 2);
    CHECK(to_string(platforms[0]) == "little=1,big@2400=2");
    CHECK(to_string(platforms[1]) == "little=1,big@1200=2");
    const Platform plain{.little = 3};
    CHECK(at_each_frequency(two_tasks(), plain) == std::vector{plain});
    Chain both = two_tasks();
    both.kinds[2] = "little@900";
    CHECK(at_each_frequency(both, {.big = 1, .little = 1}).size() == 2);
    both.kinds.emplace_back("little@1800");
    for (ChainTask& task : both.tasks) task.weight_us.push_back(15);
    CHECK(at_each_frequency(both, {.big = 1, .little = 1}).size() == 4);
}

TEST_CASE("frequencies: cores have the frequency that a schedule uses") {
    const Platform cores{.big = 2, .little = 1};
    const Schedule slow{.stages = {{0, 1, 1, "big@1200"}, {1, 1, 1, "little"}}};
    CHECK(to_string(at_frequencies(two_tasks(), cores, slow)) == "little=1,big@1200=2");
    const Schedule any{.stages = {{0, 2, 1, "little"}}};
    CHECK(to_string(at_frequencies(two_tasks(), cores, any)) == "little=1,big@2400=2");
}

TEST_CASE("frequencies: cores to leave free are those of the frequency that a platform has") {
    const Objective wanted{.leave_free = {.big = 1, .little = 2}};
    Platform cores{.little = 3};
    cores.set("big@1200", 2);
    CHECK(to_string(usable(cores, at_frequencies(wanted, cores))) == "little=1,big@1200=1");
    CHECK(at_frequencies(wanted, {.big = 2, .little = 2}) == wanted);
    cores.set("big@2400", 2);  // which of the two, nobody said
    CHECK_THROWS_WITH(
        usable(cores, at_frequencies(wanted, cores)),
        "objective: 1 'big' cores to leave free, but the cores are little=3,big@1200=2,big@2400=2");
}

TEST_CASE("frequencies: the front goes from the fastest to what draws least, over all of them") {
    const std::vector<ParetoPoint> front =
        pareto_front(two_tasks(), at_each_frequency(two_tasks(), {.big = 2}), watts());
    REQUIRE(front.size() == 4);
    CHECK(front[0].period_us == 30);
    CHECK(front[0].power_w == doctest::Approx(8));
    CHECK(front[1].period_us == 40);
    CHECK(front[1].power_w == doctest::Approx(4.4));
    CHECK(front[2].period_us == 60);
    CHECK(front[2].power_w == doctest::Approx(2));
    CHECK(front[3].period_us == 80);
    CHECK(front[3].power_w == doctest::Approx(1.1));
    CHECK(front[3].schedule.stages[0].core_kind == "big@1200");
}

TEST_CASE("frequencies: the front has what every platform's front has, unless another point beats it") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 50; ++i) {
        Chain chain{{"big@3000", "big@2000", "big@1000", "little@900", "little@600"}, {}};
        for (int task = 0; task < 6; ++task) {
            const auto weight = static_cast<double>(1 + random() % 50);
            chain.tasks.push_back({fmt::format("t{}", task),
                                   random() % 2 == 0,
                                   {weight, 1.4 * weight, 3 * weight, 5 * weight, 7 * weight}});
        }
        chain = rounded(chain);  // the weights that a front is made of
        const CostModel model{
            .kinds =
                parse_watts("big@3000=5/1,big@2000=2.2/0.6,big@1000=0.8/0.3,little@900=0.6,little@600=0.3")};
        const std::vector<Platform> platforms = at_each_frequency(chain, {.big = 2, .little = 2});
        REQUIRE(platforms.size() == 6);
        const std::vector<ParetoPoint> front = pareto_front(chain, platforms, model);
        const auto is_beaten_or_there = [&](const ParetoPoint& point) {
            return std::ranges::any_of(front, [&](const ParetoPoint& other) {
                return other.period_us <= point.period_us && other.power_w <= point.power_w;
            });
        };
        for (const Platform& platform : platforms)
            for (const ParetoPoint& point : pareto_front(chain, platform, model))
                CHECK(is_beaten_or_there(point));
        for (std::size_t p = 1; p < front.size(); ++p) {
            CHECK(front[p - 1].period_us < front[p].period_us);
            CHECK(front[p - 1].power_w > front[p].power_w);
        }
    }
}

TEST_CASE("frequencies: holes, and what is no frequency, are refused where they are") {
    Chain chain = two_tasks();
    chain.tasks[1].weight_us[1] = kCannotRun;
    CHECK(refused(chain, {.big = 1}) ==
          "frequencies: task 'b' has a weight on 'big@2400' but none on 'big@1200': cores run all of their "
          "tasks at each frequency; give it, or leave 'big@1200' out");
    chain.tasks[1].weight_us[0] = kCannotRun;  // it does not run on such cores at all
    CHECK(refused(chain, {.big = 1}).empty());
    chain = two_tasks();
    chain.kinds[1] = "big@2400.0";
    CHECK(refused(chain, {.big = 1}) ==
          "frequencies: core kinds 'big@2400' and 'big@2400.0' are the same; remove one");
    for (const char* wrong : {"big@", "big@fast", "big@-5", "big@0", "big@1200MHz", "big@inf"}) {
        chain.kinds[1] = wrong;
        CHECK(refused(chain, {.big = 1}).find("expected a number of MHz above 0") != std::string::npos);
    }
    chain.kinds[1] = "big";
    CHECK(refused(chain, {.big = 1}).find("without a frequency and as 'big@2400'") != std::string::npos);
    Chain many{{}, {{"a", true, {}}}};
    Platform cores;
    for (int kind = 0; kind < 13; ++kind) {
        cores.set(fmt::format("k{}", kind), 1);
        for (int mhz = 1; mhz < 3; ++mhz) {
            many.kinds.push_back(fmt::format("k{}@{}", kind, mhz));
            many.tasks[0].weight_us.push_back(1);
        }
    }
    CHECK(refused(many, cores).find("more than 4096 combinations") != std::string::npos);
}

}  // namespace tidemill
