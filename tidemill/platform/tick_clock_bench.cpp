// Question: what does a time stamp cost, against the standard library's clock in the same run?

#include <benchmark/benchmark.h>

#include "tidemill/platform/tick_clock.hpp"

namespace {

void tick_stamp(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(tidemill::ticks());
}

void steady_clock_stamp(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(std::chrono::steady_clock::now());
}

void tick_conversion(benchmark::State& state) {
    std::uint64_t elapsed = 1000;
    for (auto _ : state) benchmark::DoNotOptimize(tidemill::to_ns(++elapsed));
}

}  // namespace

BENCHMARK(tick_stamp);
BENCHMARK(steady_clock_stamp);
BENCHMARK(tick_conversion);
