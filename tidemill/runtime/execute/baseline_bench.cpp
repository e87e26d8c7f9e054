// Gain from schedules and copies, beside the executors that everyone knows.
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <sys/prctl.h>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/duplicates.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

const bool kAsked =
    bench::ask(
        {"baseline/thread_per_task",
         "How long between frames when HeRAD cuts eight tasks, five of them replicable, for as many "
         "threads as R replicas of each replicable task take?\nThe tasks wait instead of computing, so "
         "every thread has a core of its own and nothing but the schedule differs.",
         "ms a frame", "thread per task"}) &&
    bench::ask(
        {"baseline/duplicates",
         "How long between frames of so many dependent multiplications when each core runs a copy of the "
         "graph, beside one sequence?",
         "ns a frame", "one sequence"});

struct Weight {
    double ms;
    bool replicable;
};

constexpr std::array<Weight, 8> kWeights{
    {{2, false}, {10, true}, {5, true}, {3, false}, {15, true}, {2.5, true}, {7.5, true}, {2.5, false}}};
constexpr std::uint64_t kWaitedFrames = 50;

Chain waiting_chain() {
    Chain chain{{"big"}, {}};
    for (const Weight& weight : kWeights) {
        chain.tasks.push_back(
            {"wait" + std::to_string(chain.tasks.size()), weight.replicable, {1000 * weight.ms}});
    }
    return chain;
}

/// The chain as a graph of tasks that wait for their weights.
class WaitingGraph {
  public:
    WaitingGraph() {
        prctl(PR_SET_TIMERSLACK, 1UL);  // threads made from here on wake as exactly as the kernel can
        const Module* last = &graph_.add(task("wait0", out<int>("y"), [](auto) { wait_ms(kWeights[0].ms); }));
        for (std::size_t i = 1; i < kWeights.size(); ++i) {
            const bool is_last = i + 1 == kWeights.size();
            const auto work = [this, i, is_last](auto) {
                wait_ms(kWeights[i].ms);
                if (is_last) ++arrived_;
            };
            const auto made = [&](auto word) {
                return task("wait" + std::to_string(i), word, forward<int>("y"), work);
            };
            const Module& next = graph_.add(kWeights[i].replicable ? made(pure) : made(sequential));
            graph_.bind((*last)["y"], next["y"]);
            last = &next;
        }
    }

    /// Between frames in the second half, when every stage has work.
    double frame_ms(Schedule schedule) {
        schedule.task_names.clear();
        Pipeline pipeline(graph_, schedule);
        return (run_ms(pipeline, 2 * kWaitedFrames) - run_ms(pipeline, kWaitedFrames)) / kWaitedFrames;
    }

    Structure structure() const { return structure_of(graph_); }

  private:
    static void wait_ms(double ms) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
    }

    double run_ms(Pipeline& pipeline, std::uint64_t frames) {
        arrived_ = 0;
        const bench::Stopwatch watch;
        pipeline.run({.frames = frames, .statistics = false});
        if (arrived_ != frames) throw std::logic_error("frames are missing");
        return 1e-6 * watch.ns();
    }

    Graph graph_;
    std::atomic<std::uint64_t> arrived_{0};
};

void beside_thread_per_task(benchmark::State& state) {
    constexpr int kWaitedRounds = 3;
    WaitingGraph waiting;
    const Schedule simple = thread_per_task(waiting.structure(), static_cast<int>(state.range(0)));
    const Chain chain = waiting_chain();
    const Schedule found = herad(chain, Platform{.big = simple.thread_count()});
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kWaitedRounds; ++round) {
            ratio.add(waiting.frame_ms(found), waiting.frame_ms(simple));
        }
    }
    ratio.report(state);
    state.counters["predicted_ms"] = period_us(found, chain) / 1000;
    state.counters["threads_of_herad"] = found.thread_count();
    state.counters["threads_of_R"] = simple.thread_count();
}

/// Numbers, and a task that turns its number over `turns` times.
class Mixing : public Module {
  public:
    explicit Mixing(std::uint64_t turns) : turns_(turns) {}
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task make = task("make", &Mixing::run);

  private:
    void run(Frame f) {
        std::uint64_t word = f.number();
        for (std::uint64_t turn = 0; turn < turns_; ++turn)
            word = word * 6364136223846793005u + 1442695040888963407u;
        f[y][0] = word;
    }
    std::uint64_t turns_;
};

class Sum : public Module {
  public:
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Task take = task("take", &Sum::run);
    std::uint64_t sum = 0;

  private:
    void run(Frame f) { sum += f[x][0]; }
    void reset_counters() override { sum = 0; }
    void merge(Module& clone) override { sum += static_cast<Sum&>(clone).sum; }
};

struct MixedStream {
    explicit MixedStream(std::uint64_t turns) : sum(graph.add<Sum>()) {
        graph.bind(graph.add<Mixing>(turns).y, sum.x);
    }
    Graph graph;
    Sum& sum;
};

void duplicates(benchmark::State& state) {
    constexpr int kRounds = 9;
    const auto turns = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t frames = 20'000'000 / (turns + 20);
    const std::size_t copies = Topology::here().cores.size();
    MixedStream in_order(turns);
    MixedStream side_by_side(turns);
    Sequence sequence(in_order.graph);
    Duplicates both(side_by_side.graph, copies);
    const RunOptions options{.frames = frames, .statistics = false};
    const auto frame_ns = [&](auto& executor) {
        const bench::Stopwatch watch;
        executor.run(options);
        return watch.ns() / static_cast<double>(frames);
    };
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            in_order.sum.sum = side_by_side.sum.sum = 0;
            ratio.add(frame_ns(both), frame_ns(sequence));
            if (in_order.sum.sum != side_by_side.sum.sum) state.SkipWithError("the sums differ");
        }
    }
    ratio.report(state);
    state.counters["copies"] = static_cast<double>(copies);
}

BENCHMARK(beside_thread_per_task)
    ->Name("baseline/thread_per_task")
    ->ArgName("R")
    ->DenseRange(1, 3)
    ->Apply(bench::once);
BENCHMARK(duplicates)
    ->Name("baseline/duplicates")
    ->ArgName("multiplications")
    ->Arg(0)
    ->Arg(100)
    ->Arg(10000)
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill
