// What does it cost to look: per task of a sequence of empty tasks, with nothing, times, or an observer?
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/run/sequence.hpp"

namespace tidemill {
namespace {

constexpr std::uint64_t kFrames = 20000;

void build(Graph& graph, std::int64_t tasks) {
    auto& source = graph.add(task("source", out<int>("y"), [](auto y) { y[0] = 1; }));
    SocketRef last = source["y"];
    for (std::int64_t i = 1; i < tasks; ++i) {
        auto& next =
            graph.add(task(fmt::format("task{}", i), in<int>("x"), out<int>("y"), [](auto, auto) {}));
        graph.bind(last, next["x"]);
        last = next["y"];
    }
}

class Silent final : public Observer, public ThreadObserver {
  public:
    ThreadObserver& watch(const ObservedThread&) override { return *this; }
};

void run(benchmark::State& state, RunOptions options) {
    Graph graph;
    build(graph, state.range(0));
    Sequence sequence(graph);
    options.frames = kFrames * 8 / static_cast<std::uint64_t>(state.range(0));
    std::uint64_t calls = 0;
    for (auto _ : state) {
        calls += sequence.run(options).frames * static_cast<std::uint64_t>(state.range(0));
    }
    state.counters["per_task"] = benchmark::Counter(
        static_cast<double>(calls), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void nothing(benchmark::State& state) {
    run(state, {.statistics = false});
}
void times(benchmark::State& state) {
    run(state, {});
}
void silent_observer(benchmark::State& state) {
    Silent silent;
    run(state, {.observers = {&silent}});
}

BENCHMARK(nothing)->Arg(8)->Arg(100)->Arg(1000);
BENCHMARK(times)->Arg(8)->Arg(100)->Arg(1000);
BENCHMARK(silent_observer)->Arg(8)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace tidemill
