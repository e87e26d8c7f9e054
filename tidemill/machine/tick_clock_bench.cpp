#include <benchmark/benchmark.h>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/testing/bench.hpp"

namespace {

const bool kAsked = tidemill::bench::ask(
    {"stamp", "What does a time stamp cost, beside the standard library's clock, and its conversion?", "ns"});

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

BENCHMARK(tick_stamp)->Name("stamp/tick_stamp");
BENCHMARK(steady_clock_stamp)->Name("stamp/steady_clock_stamp");
BENCHMARK(tick_conversion)->Name("stamp/tick_conversion");
