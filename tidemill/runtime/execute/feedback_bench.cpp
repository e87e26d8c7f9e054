// Gain from cutting a circle through a delay.
#include <chrono>
#include <cstdint>
#include <memory>

#include <benchmark/benchmark.h>

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/delay.hpp"
#include "tidemill/runtime/threads/real_threads.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 11;
constexpr std::uint64_t kFrames = 3000;
constexpr std::size_t kDelayFrames = 16;

const bool kAsked = bench::ask(
    {"graph/feedback",
     "What does a frame take of three tasks of 10 us in a loop with a delay of 16 frames, on two cores?",
     "us a frame", "in order"});

/// source -> a -> b -> c, what c made 16 frames before goes into a; each takes 10 us.
class Loop {
  public:
    Loop() {
        auto& source =
            graph_.add(task("source", out<std::uint64_t>("y"), [n = 0u](auto y) mutable { y[0] = n++; }));
        auto& delay = graph_.add<Delay<std::uint64_t>>("delay", 1, kDelayFrames);
        auto& a =
            graph_.add(task("a", in<std::uint64_t>("x"), in<std::uint64_t>("past"), out<std::uint64_t>("y"),
                            [](auto x, auto past, auto y) { y[0] = worked(x[0] + past[0]); }));
        auto& b = graph_.add(task("b", in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                  [](auto x, auto y) { y[0] = worked(x[0]); }));
        auto& c = graph_.add(task("c", in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                                  [](auto x, auto y) { y[0] = worked(x[0]); }));
        auto& sink =
            graph_.add(task("sink", in<std::uint64_t>("x"), [this](auto x) { sum_ = sum_ * 31 + x[0]; }));
        graph_.bind(source["y"], a["x"]);
        graph_.bind(delay.delayed, a["past"]);
        graph_.bind(a["y"], b["x"]);
        graph_.bind(b["y"], c["x"]);
        graph_.bind(c["y"], delay.now);
        graph_.bind(c["y"], sink["x"]);
    }

    Graph& graph() { return graph_; }
    std::uint64_t sum() const { return sum_; }

  private:
    static std::uint64_t worked(std::uint64_t value) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
        while (std::chrono::steady_clock::now() < end) RealThreads::relax();
        return value * 6364136223846793005u + 1;
    }

    Graph graph_;
    std::uint64_t sum_ = 0;
};

double frame_us(Executor& executor) {
    const RunReport report = executor.resume({.frames = kFrames, .statistics = false});
    return report.elapsed_s * 1e6 / static_cast<double>(kFrames);
}

void compare(benchmark::State& state, Loop& loop, Executor& executor) {
    Loop plain;
    Sequence sequence(plain.graph());
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(frame_us(executor), frame_us(sequence));
    }
    if (loop.sum() != plain.sum()) state.SkipWithError("other bytes than in order");
    ratio.report(state);
}

void feedback(benchmark::State& state, bool dynamic) {
    Loop loop;
    if (dynamic) {
        Dynamic executor(loop.graph(), {.workers = 2});
        return compare(state, loop, executor);
    }
    Schedule schedule;  // source, what was; a, b and c on two threads; what will be, sink
    std::size_t first = 0;
    for (const std::size_t tasks : {2u, 3u, 2u}) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = tasks;
        stage.threads = tasks == 3 ? 2 : 1;
        stage.core_kind = "big";
        stage.sync_buff_size = 4;
        first += tasks;
    }
    Pipeline executor(loop.graph(), schedule, {.waiting = WaitMode::passive});
    compare(state, loop, executor);
}

BENCHMARK_CAPTURE(feedback, pipeline, false)->Name("graph/feedback/pipeline")->Apply(bench::once);
BENCHMARK_CAPTURE(feedback, dynamic, true)->Name("graph/feedback/dynamic")->Apply(bench::once);

}  // namespace
}  // namespace tidemill
