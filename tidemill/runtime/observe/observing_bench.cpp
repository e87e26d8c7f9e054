// Cost of looking.
#include <chrono>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/observe/probes.hpp"
#include "tidemill/runtime/observe/trace.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 11;
constexpr int kTasks = 100;
constexpr std::uint64_t kFrames = 5000;

const bool kAsked = bench::ask(
    {"graph/looking",
     "How much longer does each of 100 empty tasks take when someone looks: times of all calls, an observer "
     "that does nothing with them, a probe on one socket, a trace of the last 65536 events?",
     "ns added a task", "two stamps of steady_clock"});

struct EmptyTasks {
    EmptyTasks() {
        const auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
        SocketRef last = source["y"];
        for (int i = 1; i < kTasks; ++i) {
            const auto& next =
                graph.add(task(fmt::format("task{}", i), in<int>("x"), out<int>("y"), [](auto, auto) {}));
            graph.bind(last, next["x"]);
            last = next["y"];
        }
    }
    Graph graph;
};

class Silent final : public Observer, public ThreadObserver {
  public:
    ThreadObserver& watch(const ObservedThread&) override { return *this; }
};

double task_ns(Sequence& sequence, const RunOptions& options) {
    const bench::CpuStopwatch watch;
    sequence.run(options);
    return watch.ns() / (kFrames * kTasks);
}

double two_stamps_ns() {
    constexpr int kPairs = 20'000;
    const bench::CpuStopwatch watch;
    for (int i = 0; i < kPairs; ++i) {
        benchmark::DoNotOptimize(std::chrono::steady_clock::now());
        benchmark::DoNotOptimize(std::chrono::steady_clock::now());
    }
    return watch.ns() / kPairs;
}

void looking(benchmark::State& state, Graph& graph, const RunOptions& options,
             const bench::Levels& levels = {}) {
    Sequence sequence(graph);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            const double plain_ns = task_ns(sequence, {.frames = kFrames, .statistics = false});
            ratio.add(task_ns(sequence, options) - plain_ns, two_stamps_ns());
        }
    }
    ratio.report(state, levels);
}

void statistics(benchmark::State& state) {
    EmptyTasks tasks;
    looking(state, tasks.graph, {.frames = kFrames}, {.target = 12});
}

void silent_observer(benchmark::State& state) {
    EmptyTasks tasks;
    Silent silent;
    looking(state, tasks.graph, {.frames = kFrames, .statistics = false, .observers = {&silent}});
}

void probe(benchmark::State& state) {
    EmptyTasks tasks;
    Probes probes(tasks.graph);
    probes.add("task1.y");
    looking(state, tasks.graph, {.frames = kFrames, .statistics = false, .observers = {&probes}});
}

void trace(benchmark::State& state) {
    EmptyTasks tasks;
    Trace events;
    looking(state, tasks.graph, {.frames = kFrames, .statistics = false, .observers = {&events}});
}

BENCHMARK(statistics)->Name("graph/looking/statistics")->Apply(bench::once);
BENCHMARK(silent_observer)->Name("graph/looking/silent_observer")->Apply(bench::once);
BENCHMARK(probe)->Name("graph/looking/probe")->Apply(bench::once);
BENCHMARK(trace)->Name("graph/looking/trace")->Apply(bench::once);

}  // namespace
}  // namespace tidemill
