#include <benchmark/benchmark.h>

#include "tidemill/steer/layer.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::bridge {

namespace {

constexpr TaskId kTasks = 1024;
constexpr Sample kSample{.time_ns = 4'000'000, .instructions = 1'000'000};

const bool kAsked = bench::ask({"layer", "What does a scheduler's call into the layer cost?", "ns"});

void factor_read(benchmark::State& state) {
    Layer layer(kTasks, 2);
    for (TaskId task = 0; task < kTasks; ++task) layer.statistic(task, 0, kSample);
    layer.generate();
    TaskId task = 0;
    for (auto _ : state) benchmark::DoNotOptimize(layer.factors().read(task++ % kTasks, 0));
}

void statistic(benchmark::State& state) {
    Layer layer(kTasks, 2);
    TaskId task = 0;
    for (auto _ : state) layer.statistic(task++ % kTasks, 0, kSample);
}

void life_of_a_program(benchmark::State& state) {
    Layer layer(kTasks, 2);
    TaskId task = 0;
    for (auto _ : state) {
        layer.exec(task, "program");
        layer.statistic(task, 0, kSample);
        layer.generate();
        layer.exit(task);
        task = (task + 1) % kTasks;
    }
}

}  // namespace

BENCHMARK(factor_read)->Name("layer/factor_read");
BENCHMARK(statistic)->Name("layer/statistic");
BENCHMARK(life_of_a_program)->Name("layer/life_of_a_program");

}  // namespace tidemill::bridge
