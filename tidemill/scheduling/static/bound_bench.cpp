#include <random>

#include <benchmark/benchmark.h>

#include "tidemill/scheduling/static/bound.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/scheduling/static/testing/split_reference.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

const bool kAsked = bench::ask(
    {"bound", "How long does the least period of freely split work take, over 32 random chains?", "us"});

constexpr unsigned kSeed = 42;
constexpr int kInstances = 32;
constexpr double kLevelUs = 5000;

std::vector<internal::Instance> instances_of(int tasks, int kinds) {
    std::mt19937_64 random(kSeed);
    std::vector<internal::Instance> instances;
    while (instances.size() < kInstances) {
        auto instance = internal::random_instance(
            random, {.max_tasks = tasks, .kinds = kinds, .max_cores = 8, .most_weight = 100'000});
        if (static_cast<int>(instance.size()) >= tasks * 9 / 10) instances.push_back(std::move(instance));
    }
    return instances;
}

bool is_right(const internal::Instance& instance) {
    const double expected = internal::least_period_by_dual(instance);
    const double found = bound_of(internal::to_chain(instance), internal::to_platform(instance)).period_us;
    return std::abs(found - expected) <= 1e-9 * expected;
}

void bound(benchmark::State& state) {
    const auto instances = instances_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
    if (state.range(0) <= 20 && !is_right(instances[0])) state.SkipWithError("another bound by the dual");
    std::vector<std::pair<Chain, Platform>> problems;
    for (const auto& instance : instances)
        problems.emplace_back(internal::to_chain(instance), internal::to_platform(instance));
    std::size_t next = 0;
    for (auto _ : state) {
        const auto& [chain, platform] = problems[next++ % problems.size()];
        benchmark::DoNotOptimize(bound_of(chain, platform));
    }
    state.counters["ours"] = benchmark::Counter(static_cast<double>(state.iterations()) / 1e6,
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["level_us"] = kLevelUs;
}

BENCHMARK(bound)
    ->ArgNames({"tasks", "kinds"})
    ->ArgsProduct({{20, 160}, {2, 3}})
    ->Args({160, 16})
    ->Args({1000, 3})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemill
