// What does the executor add to each task of a sequence, beside what plain calls cost?
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/run/detail_bench_ratio.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 11;
constexpr std::uint64_t kCalls = 2'000'000;  // of tasks, in each round

class Empty : public Module {
  public:
    using Element = std::uint64_t;
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task nothing = task("nothing", &Empty::run);

  private:
    void run(Frame) { ++calls; }

  public:
    std::uint64_t calls = 0;
};

class Copy16 : public Module {
  public:
    using Element = std::byte;
    In<std::byte> x = in<std::byte>("x", 16);
    Out<std::byte> y = out<std::byte>("y", 16);
    Task copy = task("copy", &Copy16::run);

  private:
    void run(Frame f) {
        std::memcpy(f[y].data(), f[x].data(), 16);
        ++calls;
    }

  public:
    std::uint64_t calls = 0;
};

template <class M>
struct Chain {
    explicit Chain(std::size_t tasks) {
        for (std::size_t i = 0; i < tasks; ++i) {
            modules.push_back(&graph.add<M>());
            if (i > 0) graph.bind(modules[i - 1]->y, modules[i]->x);
        }
        graph.bind(std::vector<typename M::Element>(modules[0]->x.count), modules[0]->x);
    }
    Graph graph;
    std::vector<M*> modules;
};

struct Plain {
    virtual ~Plain() = default;
    virtual void run() = 0;
};
struct PlainCount final : Plain {
    void run() override { ++calls; }
    std::uint64_t calls = 0;
};
struct PlainCopy final : Plain {
    void run() override {
        std::memcpy(to, from, 16);
        ++calls;
    }
    const std::byte* from = nullptr;
    alignas(16) std::byte to[16]{};
    std::uint64_t calls = 0;
};

// The same work as a loop over virtual calls: the least that a chain made at run time can cost.
template <class P>
double virtual_call_ns(std::size_t tasks, std::uint64_t frames) {
    static const std::byte kZeros[16]{};
    std::vector<std::unique_ptr<Plain>> chain;
    for (std::size_t i = 0; i < tasks; ++i) {
        auto next = std::make_unique<P>();
        if constexpr (std::is_same_v<P, PlainCopy>) {
            next->from = i == 0 ? kZeros : static_cast<P&>(*chain.back()).to;
        }
        chain.push_back(std::move(next));
    }
    const bench::CpuStopwatch watch;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        for (const auto& task : chain) {
            task->run();
            benchmark::ClobberMemory();
        }
    }
    return watch.ns() / static_cast<double>(frames * tasks);
}

double function_call_ns(std::size_t tasks, std::uint64_t frames) {
    std::uint64_t calls = 0;
    const std::vector<std::function<void()>> chain(tasks, [&] { ++calls; });
    const bench::CpuStopwatch watch;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        for (const auto& task : chain) {
            task();
            benchmark::ClobberMemory();
        }
    }
    return watch.ns() / static_cast<double>(frames * tasks);
}

template <class M>
double task_ns(Sequence& sequence, const Chain<M>& chain, std::uint64_t frames, bool statistics) {
    const std::uint64_t before = chain.modules.back()->calls;
    const bench::CpuStopwatch watch;
    sequence.run({.frames = frames, .statistics = statistics});
    const double elapsed = watch.ns();
    if (chain.modules.back()->calls != before + frames) throw std::logic_error("a frame is missing");
    return elapsed / static_cast<double>(frames * chain.modules.size());
}

template <class M, class P>
void cost_of_a_task(benchmark::State& state, bool statistics) {
    const auto tasks = static_cast<std::size_t>(state.range(0));
    const std::uint64_t frames = kCalls / tasks;
    Chain<M> chain(tasks);
    Sequence sequence(chain.graph);
    bench::Ratio ratio;
    std::vector<double> functions;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(task_ns(sequence, chain, frames, statistics), virtual_call_ns<P>(tasks, frames));
            functions.push_back(function_call_ns(tasks, frames));
        }
    }
    ratio.report(state, "ns_per_task", "ns_virtual_call");
    state.counters["ns_std_function"] = bench::median(functions);
}

// Question: what does an empty task cost in a sequence, with statistics off and on? Baselines: the same as
// virtual calls and as calls of std::function.
void empty_tasks(benchmark::State& state, bool statistics) {
    cost_of_a_task<Empty, PlainCount>(state, statistics);
}
// Question: and one that copies 16 bytes from socket to socket?
void copying_tasks(benchmark::State& state, bool statistics) {
    cost_of_a_task<Copy16, PlainCopy>(state, statistics);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("tasks")->Arg(8)->Arg(100)->Arg(1000)->Iterations(1)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(empty_tasks, statistics_off, false)->Apply(sizes);
BENCHMARK_CAPTURE(empty_tasks, statistics_on, true)->Apply(sizes);
BENCHMARK_CAPTURE(copying_tasks, statistics_off, false)->Apply(sizes);
BENCHMARK_CAPTURE(copying_tasks, statistics_on, true)->Apply(sizes);

}  // namespace
}  // namespace tidemill
