// Cost for a frame of its way into a stream from the program around it, and out of it.
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>

#include <benchmark/benchmark.h>

#include "tidemill/machine/affinity.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 15;
constexpr std::size_t kFrames = 16;  // between the two sides, with those that they have in hand
constexpr std::size_t kWords = 8;

const bool kAsked = bench::ask({"outside/hand_over",
                                "What does a frame of 64 B cost that a thread of the program pushes into a "
                                "stream, or pulls out of it? Each side "
                                "is pinned to a core of its own, and there are places for 16 frames.",
                                "ns a frame", "a hop between two stages"});

class Begin : public Module {
  public:
    Out<std::uint64_t> y = out<std::uint64_t>("y", kWords);
    Task task_ = task("begin", &Begin::run);
    void run(Frame f) { f[y][0] = f.number(); }
};

class End : public Module {
  public:
    In<std::uint64_t> x = in<std::uint64_t>("x", kWords);
    Task task_ = task("end", &End::run);
    void run(Frame f) { sum += f[x][0]; }
    std::uint64_t sum = 0;
};

void check(std::uint64_t sum, std::uint64_t frames) {
    if (sum != frames * (frames - 1) / 2) throw std::logic_error("frames are missing");
}

void pin(std::size_t core) {
    static const Topology kHere = Topology::here();
    pin_this_thread(kHere.cores[core % kHere.cores.size()].pus);
}

/// Runs `stream` and `outside` on threads of their own, each on its core, once both are there.
template <class Stream, class Outside>
double frame_ns(std::uint64_t frames, Stream stream, Outside outside) {
    std::latch both_there(2);
    std::optional<bench::Stopwatch> watch;
    {
        const std::jthread inside([&] {
            pin(0);
            both_there.arrive_and_wait();
            stream();
        });
        const std::jthread around([&] {
            pin(1);
            both_there.arrive_and_wait();
            watch.emplace();
            outside();
        });
    }
    return watch->ns() / static_cast<double>(frames);
}

/// Both in one stream, in two stages.
class Hop {
  public:
    explicit Hop(WaitMode waiting)
        : topology_(Topology::here()), begin_(graph_.add<Begin>()), end_(graph_.add<End>()) {
        graph_.bind(begin_.y, end_.x);
        Schedule schedule = thread_per_task(graph_);
        for (Stage& stage : schedule.stages) {
            stage.core_kind = topology_.kinds.front().name;
            stage.pinning = Pinning::kPacked;
        }
        schedule.stages.front().sync_buff_size =
            static_cast<int>(kFrames - schedule.stages.size());  // each holds one more
        pipeline_.emplace(graph_, schedule, PipelineOptions{&topology_, 1, waiting});
    }
    double frame_ns(std::uint64_t frames) {
        end_.sum = 0;
        const bench::Stopwatch watch;
        pipeline_->run({.frames = frames, .statistics = false});
        const double elapsed = watch.ns();
        check(end_.sum, frames);
        return elapsed / static_cast<double>(frames);
    }

  private:
    Topology topology_;
    Graph graph_;
    Begin& begin_;
    End& end_;
    std::optional<Pipeline> pipeline_;
};

double inlet_ns(WaitMode waiting, std::uint64_t frames) {
    Graph graph;
    auto& inlet =
        graph.add<Inlet<std::uint64_t>>(kWords, HandOverOptions{.frames = kFrames, .waiting = waiting});
    auto& end = graph.add<End>();
    graph.bind(inlet.data, end.x);
    Sequence sequence(graph);
    const double elapsed = frame_ns(
        frames, [&] { sequence.run({.frames = frames, .statistics = false}); },
        [&] {
            for (std::uint64_t frame = 0; frame < frames; ++frame) {
                inlet.place()[0] = frame;
                inlet.commit(kWords);
            }
        });
    check(end.sum, frames);
    return elapsed;
}

double outlet_ns(WaitMode waiting, std::uint64_t frames) {
    Graph graph;
    auto& begin = graph.add<Begin>();
    auto& outlet =
        graph.add<Outlet<std::uint64_t>>(kWords, HandOverOptions{.frames = kFrames, .waiting = waiting});
    graph.bind(begin.y, outlet.data);
    Sequence sequence(graph);
    std::uint64_t sum = 0;
    const double elapsed = frame_ns(
        frames, [&] { sequence.run({.frames = frames, .statistics = false}); },
        [&] {
            for (std::uint64_t frame = 0; frame < frames; ++frame) {
                sum += outlet.front()[0];
                outlet.done(kWords);
            }
        });
    check(sum, frames);
    return elapsed;
}

using Measured = double (*)(WaitMode, std::uint64_t);

void hand_over(benchmark::State& state, Measured measured, WaitMode waiting) {
    const std::uint64_t frames = waiting == WaitMode::active ? 200'000 : 50'000;
    Hop hop(waiting);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round)
            ratio.add(measured(waiting, frames), hop.frame_ns(frames));
    }
    ratio.report(state, {});
}

BENCHMARK_CAPTURE(hand_over, ia, inlet_ns, WaitMode::active)
    ->Name("outside/hand_over/inlet,_active")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(hand_over, oa, outlet_ns, WaitMode::active)
    ->Name("outside/hand_over/outlet,_active")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(hand_over, ip, inlet_ns, WaitMode::passive)
    ->Name("outside/hand_over/inlet,_passive")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(hand_over, op, outlet_ns, WaitMode::passive)
    ->Name("outside/hand_over/outlet,_passive")
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill
