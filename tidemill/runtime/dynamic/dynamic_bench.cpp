// Cost of a task of a dependent stream under dynamic scheduling, beside oneTBB and OpenMP. Nothing is fused:
// each of the eight units keeps state, so every task waits for two others.
#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>
#ifdef TIDEMILL_WITH_TBB
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#endif

#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr std::size_t kUnits = 8;
constexpr int kRounds = 7;
constexpr std::size_t kWorkers = 2;

// Some arithmetic that nothing can shorten: about a nanosecond and a half per turn.
std::uint64_t work(std::uint64_t value, std::uint64_t turns) {
    for (std::uint64_t i = 0; i < turns; ++i) value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9ull;
    return value;
}

class StreamUnit : public Module {
  public:
    explicit StreamUnit(std::uint64_t turns) : turns_(turns) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task next = task("next", &StreamUnit::run);
    std::uint64_t calls = 0;

  private:
    void run(Frame f) {
        f[y][0] = work(f[x][0], turns_);
        ++calls;
    }
    std::uint64_t turns_;
};

struct Stream {
    explicit Stream(std::uint64_t turns) {
        for (std::size_t k = 0; k < kUnits; ++k) {
            units[k] = &graph.add<StreamUnit>(turns);
            if (k > 0) graph.bind(units[k - 1]->y, units[k]->x);
        }
        graph.bind(std::vector<std::uint64_t>{1}, units[0]->x);
    }
    Graph graph;
    std::array<StreamUnit*, kUnits> units{};
};

double per_task(double elapsed_ns, std::uint64_t frames) {
    return elapsed_ns / static_cast<double>(frames * kUnits);
}

double dynamic_ns(Stream& stream, Dynamic& dynamic, std::uint64_t frames) {
    const std::uint64_t before = stream.units.back()->calls;
    const bench::Stopwatch watch;
    dynamic.run({.frames = frames, .statistics = false});
    const double elapsed = watch.ns();
    if (stream.units.back()->calls != before + frames) throw std::logic_error("frames are missing");
    return per_task(elapsed, frames);
}

// Time of the tasks alone on one thread, each working on the output of the one before.
double plain_ns(std::uint64_t turns, std::uint64_t frames) {
    const bench::Stopwatch watch;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        std::uint64_t value = 1;
        for (std::size_t k = 0; k < kUnits; ++k) benchmark::DoNotOptimize(value = work(value, turns));
    }
    return per_task(watch.ns(), frames);
}

#ifdef TIDEMILL_WITH_TBB
double tbb_ns(std::uint64_t turns, std::uint64_t frames) {
    namespace flow = oneapi::tbb::flow;
    const oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism, kWorkers);
    flow::graph graph;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    flow::input_node<std::uint64_t> source(graph, [&](oneapi::tbb::flow_control& control) {
        if (sent == frames) control.stop();
        return sent++;
    });
    std::vector<flow::function_node<std::uint64_t, std::uint64_t>> units;
    units.reserve(kUnits);
    for (std::size_t k = 0; k < kUnits; ++k) {
        units.emplace_back(graph, flow::serial, [&received, turns, k](std::uint64_t value) {
            if (k + 1 == kUnits) ++received;
            return work(value, turns);
        });
        if (k > 0) flow::make_edge(units[k - 1], units[k]);
    }
    flow::make_edge(source, units.front());
    const bench::Stopwatch watch;
    source.activate();
    graph.wait_for_all();
    const double elapsed = watch.ns();
    if (received != frames) throw std::logic_error("frames are missing");
    return per_task(elapsed, frames);
}
#else
double tbb_ns(std::uint64_t, std::uint64_t) {
    return 0;
}
#endif

#ifdef _OPENMP
double openmp_ns(std::uint64_t turns, std::uint64_t frames) {
    constexpr std::size_t kWindow = 64;
    static std::uint64_t data[kWindow][kUnits + 1];
    static std::uint64_t states[kUnits];  // C arrays: GCC 12 takes no others as list items of depend
    std::fill(std::begin(states), std::end(states), 0);
    const bench::Stopwatch watch;
#pragma omp parallel num_threads(kWorkers)
#pragma omp single
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        const std::uint64_t at = frame % kWindow;
        for (std::size_t k = 0; k < kUnits; ++k) {
#pragma omp task depend(in                                                    \
                        : data[at][k]) depend(out                             \
                                              : data[at][k + 1]) depend(inout \
                                                                        : states[k]) firstprivate(k, at)
            {
                data[at][k + 1] = work(data[at][k], turns);
                ++states[k];
            }
        }
    }
    const double elapsed = watch.ns();
    if (states[kUnits - 1] != frames) throw std::logic_error("frames are missing");
    return per_task(elapsed, frames);
}
#else
double openmp_ns(std::uint64_t, std::uint64_t) {
    return 0;
}
#endif

[[maybe_unused]] const bool kAsked =
    bench::ask(
        {"dynamic/stream",
         "What does an empty task of a dependent stream of eight units cost on two threads under "
         "gpriority?\nBeside it the same as a oneTBB flow graph, and as OpenMP tasks with depend; 0 where "
         "the package is not there.",
         "ns a task", "oneTBB"}) &&
    bench::ask({"dynamic/two_kinds",
                "What does it cost where the two threads are called a big and a little core, and are alike?",
                "ns a task", "the same on one kind"}) &&
    bench::ask({"dynamic/efficiency",
                "Of how much work must a task be for two threads to be used half? The efficiency is the time "
                "that the tasks alone would take, spread over two threads, beside what it took.",
                "% efficiency", "oneTBB"});

void dependent_stream(benchmark::State& state) {
    constexpr std::uint64_t kFrames = 50'000;
    Stream stream(0);
    Dynamic dynamic(stream.graph, {.workers = kWorkers});
    bench::Ratio ratio;
    std::vector<double> openmp;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(dynamic_ns(stream, dynamic, kFrames), tbb_ns(0, kFrames));
            openmp.push_back(openmp_ns(0, kFrames / 10));
        }
    }
    ratio.report(state, {.target = 70});
    state.counters["OpenMP"] = median(openmp);
}

void two_kinds(benchmark::State& state) {
    const auto turns = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t frames = 10'000'000 / (turns + 25);
    Stream stream(turns);
    Dynamic two(stream.graph, {.workers = kWorkers, .kinds = {0, 1}});
    Stream same(turns);
    Dynamic one(same.graph, {.workers = kWorkers});
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < 3 * kRounds; ++round)
            ratio.add(dynamic_ns(stream, two, frames), dynamic_ns(same, one, frames));
    }
    ratio.report(state);
}

void efficiency(benchmark::State& state) {
    const auto turns = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t frames = 1'000'000 / (turns + 50);
    Stream stream(turns);
    Dynamic dynamic(stream.graph, {.workers = kWorkers});
    std::vector<double> work_ns, ours, tbb, openmp;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            work_ns.push_back(plain_ns(turns, frames));
            const double ideal = work_ns.back() / kWorkers;
            ours.push_back(100 * ideal / dynamic_ns(stream, dynamic, frames));
            if (const double ns = tbb_ns(turns, frames); ns > 0) tbb.push_back(100 * ideal / ns);
            if (const double ns = openmp_ns(turns, frames / 5); ns > 0) openmp.push_back(100 * ideal / ns);
        }
    }
    bench::report_runs(state, ours);
    if (!tbb.empty()) state.counters["baseline"] = median(tbb);
    if (!openmp.empty()) state.counters["OpenMP"] = median(openmp);
    state.counters["ns of work"] = median(work_ns);
}

BENCHMARK(dependent_stream)->Name("dynamic/stream/gpriority")->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(two_kinds)->Name("dynamic/two_kinds")->ArgName("turns")->Arg(0)->Arg(400)->Apply(bench::once);
BENCHMARK(efficiency)
    ->Name("dynamic/efficiency")
    ->ArgName("turns")
    ->Arg(12)
    ->Arg(25)
    ->Arg(50)
    ->Arg(75)
    ->Arg(100)
    ->Arg(400)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemill
