#include "tidemill/scheduling/static/packed.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/frame_alone.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/testing/packing_checks.hpp"

namespace tidemill {
namespace {

using internal::Instance;
using internal::random_instance;
using internal::to_chain;
using internal::to_platform;

Profile published_receiver(const std::string& machine) {
    return read_profile(std::filesystem::path(TIDEMILL_DATA) / "profiles" /
                        fmt::format("dvbs2-rx-{}.json", machine));
}

}  // namespace

TEST_CASE("threads with several stages equal trying every packing") {
    internal::compare_with_every_packing({.max_tasks = 7, .kinds = 3, .max_cores = 2}, 400, 4, 1);
    internal::compare_with_every_packing({.max_tasks = 5, .kinds = 2, .max_cores = 2}, 300, 4, 4);
}

TEST_CASE("a thread has the first and the third stage") {
    const Chain chain{{"big"}, {{"a", false, {30}}, {"b", false, {50}}, {"c", false, {20}}}};
    const Schedule schedule = packed(chain, {.big = 2});
    CHECK(*schedule.period_us == 50);
    CHECK(schedule.thread_count() == 2);
    REQUIRE(schedule.stages.size() == 3);
    CHECK(schedule.stages[0].owners == schedule.stages[2].owners);
    CHECK(schedule.stages[1].owners.empty());
    CHECK_NOTHROW(check(schedule, chain));
    CHECK_NOTHROW(check(schedule, Platform{.big = 2}));
    CHECK(to_table(schedule, chain) ==
          "stage  tasks  count  cores  kind       weight (us)  load\n"
          "    1  a          1      1  big              30.00   60%\n"
          "    2  b          1      1  big              50.00  100%\n"
          "    3  c          1      1  big              20.00   40%\n"
          "big:2 has stages 1, 3: 50.00 us, 100 %\n"
          "period 50.00 us on 2 big\n");
    CHECK(*herad(chain, {.big = 2}).period_us == 70);
}

TEST_CASE("threads with several stages are never slower than mixed stages, nor faster than the bound") {
    internal::Random random(12);
    for (int i = 0; i < 12; ++i) {
        const Instance instance = random_instance(random, {.max_tasks = 12, .kinds = 3, .max_cores = 2});
        const Chain chain = to_chain(instance);
        const Platform platform = to_platform(instance);
        const Schedule schedule = packed(chain, platform);
        check(schedule, chain);
        check(schedule, platform);
        CHECK(period_us(schedule, chain) == doctest::Approx(*schedule.period_us).epsilon(1e-12));
        CHECK(*schedule.period_us <= *mixed(chain, platform).period_us * (1 + 1e-9));
        CHECK(*schedule.period_us >= bound_of(chain, platform).period_us * (1 - 1e-11));
        CHECK(packed(chain, platform) == schedule);
    }
}

TEST_CASE("one task on four big and four little cores has as long a word as with mixed stages") {
    const Chain chain{{"big", "little"}, {{"a", true, {23, 55}}}};
    const Platform platform{.big = 4, .little = 4};
    const Schedule schedule = packed(chain, platform);
    CHECK(*schedule.period_us == *mixed(chain, platform).period_us);
    CHECK(*schedule.period_us < 4.32);
    CHECK(schedule.stages.front().word->letters.size() > kPackedLetters);
}

TEST_CASE("on up to 16 cores of three kinds no strategy breaks its promise to be no slower than another") {
    internal::compare_strategies(150, 12, 0.001, 50);
    internal::compare_strategies(3, 12, 1, 51);
}

TEST_CASE("threads with several stages use plain stages where mixed ones cannot be computed") {
    Chain chain;
    for (int kind = 0; kind < 9; ++kind) chain.kinds.push_back(internal::kind_name(kind));
    chain.tasks = {{"a", true, std::vector<double>(9, 90)}, {"b", false, std::vector<double>(9, 10)}};
    Platform platform;
    for (const std::string& kind : chain.kinds) platform.set(kind, kind == "big" ? 12 : 1);
    CHECK_THROWS_AS(mixed(chain, platform), ScheduleError);
    CHECK(*packed(chain, platform, {}, {}, kPackedLetters, 0.001).period_us <=
          *herad(chain, platform).period_us);
}

TEST_CASE("threads with several stages bring the published receiver near the bound") {
    const auto above_bound = [](const char* machine, const Platform& platform) {
        const Profile profile = published_receiver(machine);
        return *packed(profile, platform).period_us / bound_of(profile, platform).period_us - 1;
    };
    CHECK(above_bound("x7ti", {.big = 2, .little = 2}) < 0.05);  // mixed stages: 0.547
}

namespace {

/// The least period of sequential tasks on cores of one kind, some of which have two threads that are so
/// much slower each, by trying every number of them and every thread for each task.
double least_with_halves(const std::vector<double>& weights_us, int cores, double slower) {
    double least_us = 1e9;
    for (int halved = 0; halved <= cores; ++halved) {
        const auto threads = static_cast<std::size_t>(cores + halved);
        std::vector<std::size_t> of(weights_us.size(), 0);
        for (bool more = true; more;) {
            std::vector<double> loads_us(threads, 0);
            for (std::size_t task = 0; task < of.size(); ++task)
                loads_us[of[task]] +=
                    weights_us[task] * (of[task] < static_cast<std::size_t>(cores - halved) ? 1 : slower);
            least_us = std::min(least_us, *std::ranges::max_element(loads_us));
            more = false;
            for (std::size_t task = 0; task < of.size() && !more; ++task) {
                more = ++of[task] < threads;
                if (!more) of[task] = 0;
            }
        }
    }
    return least_us;
}

}  // namespace

TEST_CASE("siblings of one core are a choice for threads with several stages, as good as trying everything") {
    std::mt19937_64 random(21);
    int gained = 0;
    for (int i = 0; i < 60; ++i) {
        std::vector<double> weights_us;
        Chain chain{{"big"}, {}};
        for (std::size_t task = 0; task < 2 + random() % 4; ++task) {
            weights_us.push_back(static_cast<double>(1 + random() % 50));
            chain.tasks.push_back({fmt::format("t{}", task), false, {weights_us.back()}});
        }
        const int cores = 1 + static_cast<int>(random() % 2);
        const double slower = static_cast<double>(11 + random() % 10) / 10;
        const CostModel model{.kinds = {{.kind = "big", .shared_slowdown = slower}}};
        const Schedule schedule = packed(chain, {.big = cores}, {}, model);
        check(schedule, chain);
        check(schedule, Platform{.big = cores});
        CAPTURE(slower);
        CAPTURE(fmt::format("{}", weights_us.size()));
        CHECK(period_us(schedule, chain, model) == doctest::Approx(*schedule.period_us));
        CHECK(*schedule.period_us == doctest::Approx(least_with_halves(weights_us, cores, slower)));
        CHECK(*schedule.period_us <= *mixed(chain, {.big = cores}, {}, model).period_us * (1 + 1e-9));
        gained += !schedule.owners().empty() && std::ranges::any_of(schedule.stages, &Stage::shares_core);
    }
    CHECK(gained > 3);
}

TEST_CASE("within a wanted period frames take as little as single moves bring about") {
    const Chain chain{{"big", "little"},
                      {{"a", false, {20, 40}}, {"b", false, {50, 90}}, {"c", false, {30, 50}}}};
    const Platform platform{.big = 1, .little = 1};
    const Schedule slow = packed(chain, platform, {.wanted_period_us = 100});
    CHECK(*slow.period_us <= 100);
    CHECK(frame_alone(slow, chain).us == 100);
    const Schedule fast = packed(chain, platform, {.wanted_period_us = 60});
    CHECK(frame_alone(fast, chain).us >= 100);
}

TEST_CASE("turns of a stage with owners are told by their names") {
    const Chain chain{{"big"}, {{"a", false, {1}}, {"b", true, {1}}}};
    Stage first{.first_task = 0, .task_count = 1, .threads = 1, .core_kind = "big", .owners = {2}};
    Stage second{.first_task = 1, .task_count = 1, .threads = 2, .core_kind = ""};
    second.word = CyclicWord{.kinds = {"big", "big"}, .letters = {0, 1, 0}};
    second.owners = {2, 1};
    const Schedule schedule{.stages = {first, second}};
    check(schedule, chain);
    CHECK(to_table(schedule, chain).find("turns of stage 2: big:2 big:1 big:2\n") != std::string::npos);
}

TEST_CASE("what owners cannot be is refused") {
    const Chain chain{{"big"}, {{"a", true, {1}}, {"b", true, {1}}}};
    const auto message = [&](const Stage& first, const Stage& second) -> std::string {
        try {
            check(Schedule{.stages = {first, second}}, chain);
        } catch (const ScheduleError& error) {
            return error.what();
        }
        return "";
    };
    Stage first{.first_task = 0, .task_count = 1, .threads = 2, .core_kind = "big"};
    Stage second{.first_task = 1, .task_count = 1, .threads = 1, .core_kind = "big"};
    first.owners = {1, 2};
    second.owners = {2};
    CHECK(message(first, second).empty());
    first.owners = {1};
    CHECK(message(first, second) == "schedule: stage 1 has 1 owners, expected 2 (one for each thread)");
    first.owners = {1, 1};
    CHECK(message(first, second) == "schedule: two threads of stage 1 are 'big:1', expected different ones");
    first.owners = {0, 1};
    CHECK(message(first, second) == "schedule: an owner of stage 1 has a number below 1, expected 1 or more");
    first.owners = {1, 2};
    second.shares_core = true;
    CHECK(
        message(first, second).starts_with("schedule: stages 1 and 2 share the thread 'big:2' but not its"));
    second.shares_core = false;
    second.batch = 4;
    CHECK(message(first, second).find("batch") != std::string::npos);
    CHECK_THROWS_WITH(packed(chain, {.big = 1}, {}, {}, 17),
                      "packed: words of 17 letters at most; expected 1 to 16");
    CHECK_THROWS_AS(packed(chain, {.big = 0}), ScheduleError);
}

TEST_CASE("packed: a short search is never worse than plain or mixed stages") {
    std::mt19937_64 random(11);
    for (int i = 0; i < 30; ++i) {
        Chain chain{{"big", "little"}, {}};
        for (int task = 0; task < 20; ++task) {
            const auto weight = static_cast<double>(1 + random() % 100);
            chain.tasks.push_back({fmt::format("t{}", task), random() % 2 == 0, {weight, 3 * weight}});
        }
        const Platform platform{.big = 2, .little = 2};
        const Schedule brief = packed(chain, platform, {}, {}, kPackedLetters, 0.001);
        check(brief, chain);
        CHECK(*brief.period_us <= *mixed(chain, platform).period_us);
        CHECK(*brief.period_us >= bound_of(chain, platform).period_us * (1 - 1e-9));
    }
}

}  // namespace tidemill
