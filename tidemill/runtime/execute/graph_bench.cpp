// Cost that the executor adds to each task of a sequence, beside plain calls.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/control.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 11;
constexpr std::uint64_t kCalls = 2'000'000;  // of tasks, in each round

const bool kAsked =
    bench::ask({"graph/empty_task", "What does an empty task cost in a sequence of so many, statistics off?",
                "ns a task", "virtual call"}) &&
    bench::ask({"graph/copying_task", "What does a task cost that copies 16 bytes from socket to socket?",
                "ns a task", "virtual call"}) &&
    bench::ask({"graph/loop",
                "What does a task in a loop cost per turn? Three tasks: count, compare, pass on.",
                "ns a task and turn", "virtual call"}) &&
    bench::ask({"graph/switch",
                "What does a task on a path of a switch cost, its commute and select included?", "ns a task",
                "virtual call"}) &&
    bench::ask({"graph/firings", "What does one firing cost of an empty task that fires so often per frame?",
                "ns a firing", "once per frame"}) &&
    bench::ask({"graph/knob", "What does a task cost that reads a knob, in a sequence of so many?",
                "ns a task", "constant"}) &&
    bench::ask({"graph/knob_set", "What does a stream cost per frame while a knob is set so often a second?",
                "ns a frame", "never set"});

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

double frame_ns(Sequence& sequence, std::uint64_t frames, const std::uint64_t& calls,
                std::uint64_t calls_per_frame = 1) {
    const std::uint64_t before = calls;
    const bench::CpuStopwatch watch;
    sequence.run({.frames = frames, .statistics = false});
    const double elapsed = watch.ns();
    if (calls != before + frames * calls_per_frame) throw std::logic_error("a frame is missing");
    return elapsed / static_cast<double>(frames);
}

template <class M, class P>
void cost_of_a_task(benchmark::State& state, const bench::Levels& levels) {
    const auto tasks = static_cast<std::size_t>(state.range(0));
    const std::uint64_t frames = kCalls / tasks;
    Chain<M> chain(tasks);
    Sequence sequence(chain.graph);
    bench::Ratio ratio;
    std::vector<double> functions;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(frame_ns(sequence, frames, chain.modules.back()->calls) / static_cast<double>(tasks),
                      virtual_call_ns<P>(tasks, frames));
            functions.push_back(function_call_ns(tasks, frames));
        }
    }
    ratio.report(state, levels);
    state.counters["std_function"] = median(functions);
}

void empty_task(benchmark::State& state) {
    cost_of_a_task<Empty, PlainCount>(state, {.target = 3});
}

void copying_task(benchmark::State& state) {
    cost_of_a_task<Copy16, PlainCopy>(state, {.target = 3});
}

/// Counts to `turns` in each frame: select, a task that counts, and commute.
class CountingLoop {
  public:
    explicit CountingLoop(std::uint64_t turns) {
        auto& loop = graph_.add<Loop<std::uint64_t>>("loop");
        const auto& count =
            graph_.add(task("count", in<std::uint64_t>("x"), out<std::uint64_t>("y"),
                            out<std::uint8_t>("more"), [this, turns](auto x, auto y, auto more) {
                                y[0] = x[0] + 1;
                                more[0] = y[0] < turns;
                                ++calls;
                            }));
        graph_.bind({0}, loop.first);
        graph_.bind(loop.turn, count["x"]);
        graph_.bind(count["y"], loop.data);
        graph_.bind(count["more"], loop.control);
        graph_.bind(loop.body, loop.next);
    }
    Graph& graph() { return graph_; }
    std::uint64_t calls = 0;

  private:
    Graph graph_;
};

void loop(benchmark::State& state) {
    const auto turns = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t frames = kCalls / 3 / turns;
    CountingLoop counting(turns);
    Sequence sequence(counting.graph());
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(frame_ns(sequence, frames, counting.calls, turns) / static_cast<double>(3 * turns),
                      virtual_call_ns<PlainCount>(3, frames * turns));
        }
    }
    ratio.report(state, {.target = 4});
}

/// Opens one of `paths` paths after the other, each with one task: commute, task and select.
class RoundRobin {
  public:
    explicit RoundRobin(std::uint8_t paths) {
        const auto& source =
            graph_.add(task("source", out<std::uint8_t>("path"), [paths, n = 0u](auto path) mutable {
                path[0] = static_cast<std::uint8_t>(n++ % paths);
            }));
        auto& choice = graph_.add<Switch<std::uint8_t>>("switch", paths);
        graph_.bind(source["path"], choice.data);
        graph_.bind(source["path"], choice.control);
        for (std::uint8_t p = 0; p < paths; ++p) {
            const auto& pass = graph_.add(task("pass" + std::to_string(p), in<std::uint8_t>("x"),
                                               out<std::uint8_t>("y"), [this](auto x, auto y) {
                                                   y[0] = x[0];
                                                   ++calls;
                                               }));
            graph_.bind(choice.out_of_path[p], pass["x"]);
            graph_.bind(pass["y"], choice.into_path[p]);
        }
    }
    Graph& graph() { return graph_; }
    std::uint64_t calls = 0;

  private:
    Graph graph_;
};

void switch_paths(benchmark::State& state) {
    constexpr std::uint64_t kTasks = 4;  // source, commute, a path's, select
    RoundRobin round_robin(static_cast<std::uint8_t>(state.range(0)));
    Sequence sequence(round_robin.graph());
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(frame_ns(sequence, kCalls / kTasks, round_robin.calls) / kTasks,
                      virtual_call_ns<PlainCount>(kTasks, kCalls / kTasks));
        }
    }
    ratio.report(state, {.target = 4});
}

/// A task that takes one word, behind one that gives `words` of them per frame.
class Stream {
  public:
    explicit Stream(std::size_t words) {
        const auto& source = graph_.add(task("source", out<std::uint64_t>("y", words), [](auto) {}));
        const auto& sink = graph_.add(task("sink", in<std::uint64_t>("x"), [this](auto) { ++calls; }));
        graph_.stream(source["y"], sink["x"]);
    }
    Graph& graph() { return graph_; }
    std::uint64_t calls = 0;

  private:
    Graph graph_;
};

void firings(benchmark::State& state) {
    const auto often = static_cast<std::uint64_t>(state.range(0));
    Stream many(often);
    Stream one(1);
    Sequence fires_often(many.graph());
    Sequence fires_once(one.graph());
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(frame_ns(fires_often, kCalls / often, many.calls, often) / static_cast<double>(often),
                      frame_ns(fires_once, kCalls / 2, one.calls));
        }
    }
    ratio.report(state);
}

/// Adds up what its knob, or what is bound to its input, holds.
class ReadsKnob : public Module {
  public:
    using Element = std::uint32_t;
    Knob<std::uint32_t> value = knob("value", std::uint32_t{1});
    In<std::uint32_t> x = in<std::uint32_t>("x");
    Out<std::uint32_t> y = out<std::uint32_t>("y");
    Task read = task("read", &ReadsKnob::run);

  private:
    void run(Frame f) { calls += f[value]; }

  public:
    std::uint64_t calls = 0;
};

class ReadsConstant : public Module {
  public:
    using Element = std::uint32_t;
    In<std::uint32_t> value = in<std::uint32_t>("value");
    In<std::uint32_t> x = in<std::uint32_t>("x");
    Out<std::uint32_t> y = out<std::uint32_t>("y");
    Task read = task("read", &ReadsConstant::run);

  private:
    void run(Frame f) { calls += f[value][0]; }

  public:
    std::uint64_t calls = 0;
};

void knob(benchmark::State& state) {
    const auto tasks = static_cast<std::size_t>(state.range(0));
    const std::uint64_t frames = kCalls / tasks;
    Chain<ReadsKnob> knobs(tasks);
    Chain<ReadsConstant> constants(tasks);
    for (ReadsConstant* each : constants.modules) constants.graph.bind({1}, each->value);
    Sequence reads_knobs(knobs.graph);
    Sequence reads_constants(constants.graph);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(frame_ns(reads_knobs, frames, knobs.modules.back()->calls) / static_cast<double>(tasks),
                      frame_ns(reads_constants, frames, constants.modules.back()->calls) /
                          static_cast<double>(tasks));
        }
    }
    ratio.report(state);
}

/// Sets a knob so often a second, from a thread of its own, until it goes out of scope.
class Setter {
  public:
    Setter(Sequence& sequence, const Knob<std::uint32_t>& knob, std::int64_t per_second)
        : thread_([this, &sequence, knob, per_second](const std::stop_token& stop) {
              const auto start = std::chrono::steady_clock::now();
              for (; !stop.stop_requested(); ++sets_) {
                  const auto due = start + std::chrono::nanoseconds(1'000'000'000) * sets_ / per_second;
                  while (std::chrono::steady_clock::now() < due && !stop.stop_requested()) {
                  }
                  const bench::CpuStopwatch watch;
                  sequence.set(knob, 1u);
                  ns_ += watch.ns();
              }
          }) {}
    /// Time of a call, in nanoseconds of its thread.
    double ns_a_set() {
        thread_.request_stop();
        thread_.join();
        return ns_ / static_cast<double>(std::max<std::int64_t>(1, sets_)) - ns_a_stamp();
    }

  private:
    static double ns_a_stamp() {
        constexpr int kStamps = 1000;
        const bench::CpuStopwatch all;
        double last = 0;
        for (int i = 0; i < kStamps; ++i) benchmark::DoNotOptimize(last = all.ns());
        return last / kStamps;
    }

    std::int64_t sets_ = 0;
    double ns_ = 0;
    std::jthread thread_;
};

void knob_set(benchmark::State& state) {
    constexpr std::size_t kTasks = 10;
    constexpr std::uint64_t kFrames = 1'000'000;
    Chain<ReadsKnob> chain(kTasks);
    Sequence sequence(chain.graph);
    const std::uint64_t& calls = chain.modules.back()->calls;
    bench::Ratio ratio;
    std::vector<double> sets;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            Setter setter(sequence, chain.modules.front()->value, state.range(0));
            const double busy = frame_ns(sequence, kFrames, calls);
            sets.push_back(setter.ns_a_set());
            ratio.add(busy, frame_ns(sequence, kFrames, calls));
        }
    }
    ratio.report(state);
    state.counters["ns_a_set"] = median(sets);
}

void sequences(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("tasks")->Arg(8)->Arg(100)->Arg(1000)->Apply(bench::once);
}

BENCHMARK(empty_task)->Name("graph/empty_task")->Apply(sequences);
BENCHMARK(copying_task)->Name("graph/copying_task")->Apply(sequences);
BENCHMARK(loop)->Name("graph/loop")->ArgName("turns")->Arg(10)->Arg(1000)->Apply(bench::once);
BENCHMARK(switch_paths)->Name("graph/switch")->ArgName("paths")->Arg(2)->Arg(8)->Apply(bench::once);
BENCHMARK(knob)->Name("graph/knob")->ArgName("tasks")->Arg(8)->Arg(100)->Apply(bench::once);
BENCHMARK(knob_set)
    ->Name("graph/knob_set")
    ->ArgName("per_second")
    ->Arg(1000)
    ->Arg(100000)
    ->Apply(bench::once);
BENCHMARK(firings)->Name("graph/firings")->ArgName("firings")->Arg(4)->Arg(16)->Arg(64)->Apply(bench::once);

}  // namespace
}  // namespace tidemill
