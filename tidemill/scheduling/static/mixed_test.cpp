#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/testing/cost_model_checks.hpp"

namespace tidemill {
namespace {

using internal::BruteForce;
using internal::Instance;
using internal::Outcome;
using internal::Random;
using internal::random_instance;
using internal::to_chain;
using internal::to_platform;
using internal::uniform;

constexpr unsigned kSeed = 1616;

std::optional<Outcome> solve(const Instance& instance, std::size_t most_letters) {
    const Chain chain = to_chain(instance);
    try {
        const Schedule schedule = mixed(chain, to_platform(instance), {}, {}, most_letters);
        check(schedule, chain);
        check(schedule, to_platform(instance));
        return outcome(instance, schedule);
    } catch (const ScheduleError&) {
        return std::nullopt;
    }
}

// Exhaustive search has no time for more.
Instance few_threads(Random& random, const internal::Shape& shape, int most_threads) {
    Instance instance = random_instance(random, shape);
    while (std::accumulate(instance.cores.begin(), instance.cores.end(), 0) > most_threads)
        --*std::ranges::max_element(instance.cores);
    return instance;
}

void compare_with_every_word(const internal::Shape& shape, int count, int most_threads,
                             std::size_t most_letters) {
    Random random(kSeed + static_cast<unsigned>(shape.kinds));
    int wrong = 0, gained = 0;
    for (int i = 0; i < count && wrong < 3; ++i) {
        const Instance instance = few_threads(random, shape, most_threads);
        const auto expected = BruteForce(instance, most_letters).best_if_any();
        const auto plain = BruteForce(instance).best_if_any();
        gained += expected && (!plain || expected->period < plain->period);
        if (solve(instance, most_letters) == expected) continue;
        ++wrong;
        MESSAGE(fmt::format("seed {}, case {}: weights {} replicable {} cores {}", kSeed, i, instance.weights,
                            instance.replicable, instance.cores));
    }
    CHECK(wrong == 0);
    CHECK(gained > count / 20);
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

TEST_CASE("mixed stages equal trying every word of up to six letters in 10,000 cases and more") {
    compare_with_every_word({.max_tasks = 7, .kinds = 3, .max_cores = 2}, 10'000, 4, 6);
    compare_with_every_word({.max_tasks = 7, .kinds = 2, .max_cores = 3, .most_weight = 30}, 10'000, 4, 6);
    compare_with_every_word({.max_tasks = 5, .kinds = 3, .max_cores = 2, .nowhere_of_ten = 2}, 2'000, 5, 6);
    compare_with_every_word({.max_tasks = 5, .kinds = 4, .max_cores = 1, .most_weight = 100}, 2'000, 4, 5);
}

TEST_CASE("mixed stages equal trying everything where stages cost, cores slow down and are shared") {
    const internal::Shape two{.max_tasks = 4, .kinds = 2, .max_cores = 2, .most_weight = 30};
    compare_with_enumeration(two, {.costs = true}, 1'000, 5);
    compare_with_enumeration(two, {.slowdowns = true, .shared_cores = true}, 500, 4);
    const internal::Shape three{.max_tasks = 3, .kinds = 3, .max_cores = 1, .most_weight = 30};
    compare_with_enumeration(three, {.costs = true, .slowdowns = true, .shared_cores = true}, 500, 4);
}

TEST_CASE("one big and one little core share a stage by a word, as their speeds have it") {
    const Chain chain{{"big", "little"}, {{"work", true, {20, 40}}}};
    const Schedule schedule = mixed(chain, {.big = 1, .little = 1});
    CHECK(*schedule.period_us == doctest::Approx(40.0 / 3));
    REQUIRE(schedule.stages.size() == 1);
    CHECK(letter_names(*schedule.stages[0].word) == std::vector<std::string>{"big:1", "little:1", "big:1"});
    CHECK(*herad(chain, {.big = 1, .little = 1}).period_us == 20);
    CHECK(to_table(schedule, chain) ==
          "stage  tasks  count  cores  kind         weight (us)  load\n"
          "    1  work       1      2  big+little         13.33  100%\n"
          "turns of stage 1: big:1 little:1 big:1\n"
          "period 13.33 us on 1 big, 1 little\n");
}

TEST_CASE("mixed stages are never slower than plain ones, nor faster than the bound") {
    CHECK(rc::check("on long chains", [] {
        const Instance instance = arbitrary_instance({.max_tasks = 40, .kinds = 3, .max_cores = 9});
        const Chain chain = to_chain(instance);
        const Platform platform = to_platform(instance);
        const Schedule schedule = mixed(chain, platform);
        check(schedule, chain);
        check(schedule, platform);
        RC_ASSERT(*schedule.period_us <= *herad(chain, platform).period_us);
        RC_ASSERT(*schedule.period_us >= bound_of(chain, platform).period_us * (1 - 1e-11));
    }));
    CHECK(rc::check("under models", [] {
        Random random(*rc::gen::arbitrary<unsigned>());
        const auto problem = internal::random_model_instance(
            random, {.max_tasks = 8, .kinds = 2, .max_cores = 4, .most_weight = 1000},
            {.costs = true, .slowdowns = true, .shared_cores = true});
        const Chain chain = to_chain(problem.base);
        const Platform platform = to_platform(problem.base);
        const CostModel model = problem.model();
        const Schedule schedule = mixed(chain, platform, {}, model);
        check(schedule, chain);
        RC_ASSERT(period_us(schedule, chain, model) == doctest::Approx(*schedule.period_us).epsilon(1e-12));
        RC_ASSERT(*schedule.period_us <= *herad(chain, platform, {}, model).period_us * (1 + 1e-12));
        RC_ASSERT(*schedule.period_us >= bound_of(chain, platform, model).period_us * (1 - 1e-11));
    }));
}

TEST_CASE("where nothing can be mixed, the schedule is herad's") {
    CHECK(rc::check([] {
        const Instance instance = arbitrary_instance({.max_tasks = 12, .kinds = 1, .max_cores = 9});
        const Chain chain = to_chain(instance);
        const Platform platform = to_platform(instance);
        RC_ASSERT(mixed(chain, platform).stages == herad(chain, platform).stages);
    }));
    Chain with_device{{"big", "gpu"}, {{"a", true, {40, 8}}}};
    with_device.tasks[0].batches = {{.kind = "gpu", .batch_us = 200, .frame_us = 7}};
    Platform both{.big = 1};
    both.set("gpu", 1);
    CHECK(mixed(with_device, both).stages == herad(with_device, both).stages);
}

TEST_CASE("mixed stages on the published receiver: a third of the way to the bound, all of it, or none") {
    const auto period = [](const char* machine, const Platform& platform) {
        return std::round(*mixed(published(machine), platform).period_us);
    };
    CHECK(period("x7ti", {.big = 3, .little = 4}) == 2437);   // plain 2707, bound 2047
    CHECK(period("m1u", {.big = 8, .little = 2}) == 951);     // plain 1018, bound 951
    CHECK(period("ai370", {.big = 2, .little = 2}) == 5013);  // as plain, bound 4364
}

TEST_CASE("what cannot be mixed is refused with a reason") {
    const Chain chain{{"big"}, {{"a", true, {1}}}};
    CHECK_THROWS_WITH(mixed(chain, {.big = 1}, {}, {}, 1),
                      "mixed: words of 1 letters at most; expected 2 to 16");
    CHECK_THROWS_AS(mixed(chain, {.big = 1}, {}, {}, 17), ScheduleError);
    Chain many{{}, {{"a", true, {}}}};
    Platform nine;
    for (int kind = 0; kind < 9; ++kind) {
        many.kinds.push_back(fmt::format("k{}", kind));
        many.tasks[0].weight_us.push_back(1);
        nine.set(many.kinds.back(), 1);
    }
    CHECK_THROWS_WITH(mixed(many, nine), "mixed: 9 kinds of cores, and at most 8 may be mixed; give fewer");
}

TEST_CASE("a mixed stage that does not fit the chain is refused") {
    const Chain chain{{"big", "little"}, {{"a", true, {1, 2}}, {"b", false, {1, kCannotRun}}}};
    const auto message = [&](const Stage& stage) -> std::string {
        try {
            check(Schedule{.stages = {stage, {1, 1, 1, "big"}}}, chain);
        } catch (const ScheduleError& error) {
            return error.what();
        }
        return "";
    };
    Stage stage{.first_task = 0, .task_count = 1, .threads = 2, .core_kind = ""};
    stage.word = CyclicWord{{"big", "little"}, {0, 1}};
    CHECK(message(stage).empty());
    stage.threads = 3;
    CHECK(message(stage) == "schedule: stage 1 has 3 threads, expected 2 (those of its word)");
    stage.threads = 2;
    stage.word->letters = {0, 0};
    CHECK(message(stage).starts_with("schedule: the word of stage 1 has letters of 1 threads, expected 2"));
    stage.word->letters = {0, 1};
    stage.core_kind = "big";
    CHECK(message(stage).starts_with("schedule: stage 1 has a word, so each of its threads has a core"));
    stage.core_kind.clear();
    stage.task_count = 2;
    CHECK_THROWS_WITH(check(Schedule{.stages = {stage}}, chain),
                      "schedule: stage 1 has 2 threads, expected 1: task 'b' is not replicable");
}

}  // namespace tidemill
