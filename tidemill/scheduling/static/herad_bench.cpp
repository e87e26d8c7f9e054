#include <cmath>
#include <ctime>
#include <random>

#include <benchmark/benchmark.h>

#include "tidemill/base/quantile.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/internal/reference.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

using internal::Instance;

const bool kAsked =
    bench::ask({"herad/beside_published",
                "How long does the optimum take, beside the published dynamic programme on the same chains?",
                "us", "published programme"}) &&
    bench::ask({"herad/alone",
                "How long does the optimum take at sizes that the published one does not reach?", "us"}) &&
    bench::ask({"mixed/alone", "How long does the optimum take where stages may be mixed?", "us"});

constexpr unsigned kSeed = 42;
constexpr int kInstances = 32;
constexpr int kCompared = 5;  // the published programme takes its time

// As in the published simulations: big weights 1..100, little ones 1 to 5 times that, further kinds likewise.
Instance published_instance(std::mt19937_64& random, std::size_t tasks, const std::vector<int>& cores,
                            double stateless) {
    Instance instance;
    instance.cores = cores;
    instance.weights.resize(cores.size());
    for (std::size_t i = 0; i < tasks; ++i) {
        instance.replicable.push_back(std::bernoulli_distribution(stateless)(random));
        const int big = std::uniform_int_distribution(1, 100)(random);
        instance.weights[0].push_back(static_cast<std::uint64_t>(big));
        for (std::size_t kind = 1; kind < cores.size(); ++kind)
            instance.weights[kind].push_back(static_cast<std::uint64_t>(
                std::ceil(big * std::uniform_real_distribution(1.0, 5.0)(random))));
    }
    return instance;
}

std::vector<Instance> published_instances(std::size_t tasks, const std::vector<int>& cores,
                                          double stateless) {
    std::mt19937_64 random(kSeed);
    std::vector<Instance> instances;
    for (int i = 0; i < kInstances; ++i)
        instances.push_back(published_instance(random, tasks, cores, stateless));
    return instances;
}

// Processor time of this thread's own computing, so that neighbours on a shared machine do not count.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Solves the same instances over and over; the median over instances is what a user waits for.
template <class Solve>
void time_strategy(benchmark::State& state, const std::vector<Instance>& instances, Solve solve) {
    std::vector<Chain> chains;
    for (const auto& instance : instances) chains.push_back(internal::to_chain(instance));
    const Platform platform = internal::to_platform(instances[0]);
    std::vector<double> times_us;
    std::size_t next = 0;
    for (auto _ : state) {
        const double start = cpu_seconds();
        benchmark::DoNotOptimize(solve(chains[next++ % chains.size()], platform));
        times_us.push_back(1e6 * (cpu_seconds() - start));
        state.SetIterationTime(times_us.back() / 1e6);
    }
    state.counters["ours"] = median(times_us);
}

void time_herad(benchmark::State& state, const std::vector<Instance>& instances) {
    time_strategy(state, instances,
                  [](const Chain& chain, const Platform& platform) { return herad(chain, platform); });
}

// Requirement on the median.
void set_level(benchmark::State& state, double most_us) {
    state.counters["level_us"] = most_us;
}

// Seconds that the published programme and ours take for the same problem, after checking that they agree.
std::pair<double, double> compare(benchmark::State& state, const Instance& instance) {
    const Chain chain = internal::to_chain(instance);
    const Platform platform = internal::to_platform(instance);
    const Schedule ours = herad(chain, platform);
    const double start = cpu_seconds();
    const auto published = internal::PublishedHerad(instance).best();
    const double between = cpu_seconds();
    benchmark::DoNotOptimize(herad(chain, platform));
    const double end = cpu_seconds();
    if (*ours.period_us != published.period) state.SkipWithError("periods differ");
    return {between - start, end - between};
}

void herad_beside_published(benchmark::State& state) {
    const auto tasks = static_cast<std::size_t>(state.range(0));
    const int cores = static_cast<int>(state.range(1));
    const auto instances =
        published_instances(tasks, {cores, cores}, static_cast<double>(state.range(2)) / 10);
    std::vector<double> published_us;
    std::vector<double> ratios;
    for (int i = 0; i < kCompared; ++i) {
        const auto [published, ours] = compare(state, instances[static_cast<std::size_t>(i)]);
        published_us.push_back(1e6 * published);
        ratios.push_back(ours / published);
    }
    time_herad(state, instances);
    if (tasks == 20) set_level(state, 20);
    state.counters["baseline"] = median(published_us);
    state.counters["ratio"] = median(ratios);
}

void herad_alone(benchmark::State& state) {
    const auto tasks = static_cast<std::size_t>(state.range(0));
    const std::vector<int> cores(static_cast<std::size_t>(state.range(1)), static_cast<int>(state.range(2)));
    time_herad(state, published_instances(tasks, cores, static_cast<double>(state.range(3)) / 10));
    const bool long_search = state.range(3) == 10;
    set_level(state, tasks == 1000 ? 50'000 : long_search ? 500 : 100);
}

void mixed_alone(benchmark::State& state) {
    constexpr double kLevelUs = 1000;
    const std::vector<int> cores(2, static_cast<int>(state.range(1)));
    const double stateless = static_cast<double>(state.range(2)) / 10;
    time_strategy(state, published_instances(static_cast<std::size_t>(state.range(0)), cores, stateless),
                  [](const Chain& chain, const Platform& platform) { return mixed(chain, platform); });
    set_level(state, kLevelUs);
}

BENCHMARK(herad_beside_published)
    ->Name("herad/beside_published")
    ->ArgNames({"tasks", "cores_of_each", "stateless_tenths"})
    ->ArgsProduct({{20}, {10}, {2, 5, 8}})
    ->ArgsProduct({{40}, {20}, {2, 5, 8}})
    ->ArgsProduct({{80}, {40}, {2, 5, 8}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

BENCHMARK(herad_alone)
    ->Name("herad/alone")
    ->ArgNames({"tasks", "kinds", "cores_of_each", "stateless_tenths"})
    ->ArgsProduct({{160}, {2}, {100}, {2, 5, 8, 10}})
    ->ArgsProduct({{1000}, {3}, {64}, {2, 5, 8}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

BENCHMARK(mixed_alone)
    ->Name("mixed/alone")
    ->ArgNames({"tasks", "cores_of_each", "stateless_tenths"})
    ->ArgsProduct({{160}, {16, 100}, {2, 5, 8, 10}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemill
