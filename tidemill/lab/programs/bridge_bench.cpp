// Gain of workers of two kinds from tasks that a little core hurts more or less, beside the same policy that
// does not know them apart. One of two real workers is made slower.
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/lab/programs/profile_run.hpp"
#include "tidemill/lab/sim/published.hpp"
#include "tidemill/scheduling/unequal/factor_matrix.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

// TIDEMILL_BENCH_SECONDS and TIDEMILL_BENCH_PAIRS: how long each run is, and how many are compared.
double told(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtod(text, nullptr) : otherwise;
}

const bool kAsked =
    bench::ask({"bridge/mix",
                "How long does a frame of eight independent tasks take on a big and an emulated little core, "
                "learning included?\nCosts are log-normal, a little core takes 1.2 to 5 times as long; "
                "control: the baseline against itself, low and high: of the ratio's mean, by 95 %.",
                "us a frame", "the same policy, any task to any core"}) &&
    bench::ask({"bridge/receiver",
                "How long does a frame of the published receivers' tasks take on one core of each kind?",
                "us a frame", "the same policy, any task to any core"}) &&
    bench::ask({"bridge/equal",
                "What is lost where a little core takes twice as long for every task, by the time of a task?",
                "us a frame", "the same policy, any task to any core"}) &&
    bench::ask({"bridge/factor_read", "What does it cost to read a factor?", "ns"});

/// Pairs of runs, ours and the baseline in turn, and a second baseline as a control.
class Pairs {
  public:
    explicit Pairs(const Profile& profile, bool independent) : profile_(profile), independent_(independent) {}

    void measure(benchmark::State& state) {
        const auto pairs = static_cast<int>(told("TIDEMILL_BENCH_PAIRS", 5));
        for (int pair = 0; pair < pairs; ++pair) {
            const RunReport ours = run(Placing::learned);
            const RunReport baseline = run(Placing::none);
            const RunReport control = run(Placing::none);
            ratio_.add(ours.best->period_us, baseline.best->period_us);
            logs_.push_back(std::log(ours.best->period_us / baseline.best->period_us));
            controls_.push_back(control.best->period_us / baseline.best->period_us);
            above_.push_back(ours.best->percent());
            baseline_above_.push_back(baseline.best->percent());
        }
        report(state);
    }

  private:
    RunReport run(Placing placing) const {
        return run_profile(profile_, {.cores = {.big = 1, .little = 1},
                                      .placing = placing,
                                      .seconds = told("TIDEMILL_BENCH_SECONDS", 1),
                                      .independent = independent_,
                                      .checked = false});
    }

    void report(benchmark::State& state) const {
        ratio_.report(state);
        state.counters["percent_above_bound"] = median(above_);
        state.counters["baseline_percent_above_bound"] = median(baseline_above_);
        state.counters["control"] = median(controls_);
        double mean = 0;
        double squares = 0;
        const auto count = static_cast<double>(logs_.size());
        for (const double log : logs_) mean += log / count;
        for (const double log : logs_) squares += (log - mean) * (log - mean);
        constexpr double kNormal = 1.96;
        const double half = kNormal * std::sqrt(squares / std::max(1.0, count - 1) / count);
        state.counters["low"] = std::exp(mean - half);
        state.counters["high"] = std::exp(mean + half);
    }

    const Profile& profile_;
    bool independent_;
    bench::Ratio ratio_;
    std::vector<double> logs_, controls_, above_, baseline_above_;
};

Profile profile_of_two_kinds() {
    Profile profile;
    profile.kinds = {"big", "little"};
    return profile;
}

void mix(benchmark::State& state) {
    std::mt19937_64 random(static_cast<std::uint64_t>(state.range(0)));
    std::lognormal_distribution<double> cost(5, 0.7);
    std::uniform_real_distribution<double> times(1.2, 5);
    Profile profile = profile_of_two_kinds();
    for (int task = 0; task < 8; ++task) {
        const double big_us = cost(random);
        profile.tasks.push_back({"task" + std::to_string(task), true, {big_us, big_us * times(random)}});
    }
    for (auto _ : state) Pairs(profile, true).measure(state);
}

void receiver(benchmark::State& state) {
    static const char* const kMachines[] = {"opi5", "m1u", "ai370", "x7ti"};
    const char* machine = kMachines[state.range(0)];
    state.SetLabel(machine);
    const Profile profile = published_profile(machine);
    for (auto _ : state) Pairs(profile, false).measure(state);
}

void equal(benchmark::State& state) {
    const auto task_us = static_cast<double>(state.range(0));
    Profile profile = profile_of_two_kinds();
    for (int task = 0; task < 8; ++task)
        profile.tasks.push_back({"task" + std::to_string(task), true, {task_us, 2 * task_us}});
    for (auto _ : state) Pairs(profile, true).measure(state);
}

void factor_read(benchmark::State& state) {
    constexpr policy::TaskTypeId kTypes = 64;
    bridge::FactorMatrix factors(kTypes, 2);
    for (policy::TaskTypeId type = 0; type < kTypes; ++type)
        factors.write(type, 1, 1 + type, bridge::Quality::measured);
    constexpr int kReads = 1'000'000;
    std::vector<double> ns;
    for (auto _ : state) {
        const bench::Stopwatch watch;
        for (int read = 0; read < kReads; ++read)
            benchmark::DoNotOptimize(factors.read(static_cast<policy::TaskTypeId>(read) % kTypes, 1));
        ns.push_back(watch.ns() / kReads);
    }
    state.counters["ours"] = median(ns);
    state.counters["target"] = 5;
}

BENCHMARK(mix)->Name("bridge/mix")->ArgName("seed")->DenseRange(1, 4)->Apply(bench::once);
BENCHMARK(receiver)->Name("bridge/receiver")->DenseRange(0, 3)->Apply(bench::once);
BENCHMARK(equal)->Name("bridge/equal")->ArgName("us")->Arg(1)->Arg(10)->Arg(100)->Apply(bench::once);
BENCHMARK(factor_read)->Name("bridge/factor_read");

}  // namespace
}  // namespace tidemill
