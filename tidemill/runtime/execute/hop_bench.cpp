// Cost of a frame's way from one stage to the next.
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <stdexcept>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/affinity.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/threads/real_threads.hpp"
#include "tidemill/runtime/threads/token_ring.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 9;

const bool kAsked =
    bench::ask(
        {"hop/two_threads",
         "What does a hop between two pinned threads cost, with a ring of 16, and does the frame's size "
         "matter?\nBeside it the textbook: active, two rings of padded pointer slots; otherwise two "
         "queues under a mutex and a condition variable.",
         "ns a hop", "textbook"}) &&
    bench::ask({"hop/round_trip",
                "What does a token's way there and back cost, with nothing else in flight to hide it?",
                "ns a round trip", "textbook"}) &&
    bench::ask({"hop/three_active_stages",
                "What does a frame cost when three spinning stages share two cores, beside two stages there?",
                "ns a frame", "two stages"}) &&
    bench::ask({"hop/sockets", "Do ten sockets over four stages cost more than one, per hop?", "ns a hop",
                "one socket"}) &&
    bench::ask({"hop/memory",
                "How many bytes does a pipeline of four stages take, beside the tokens in flight times the "
                "bytes that are alive in each?",
                "KiB", "tokens x live bytes"}) &&
    bench::ask({"hop/batch",
                "What do batches of frames save on a hop between tiny tasks, and how long does a frame then "
                "take, when the source never waits and the ring holds 16 batches?",
                "ns a frame", "frame by frame"});

/// A number and `bytes` of payload that nobody looks at: a hop passes the token, not what is in it.
class Begin : public Module {
  public:
    Begin(std::size_t bytes, std::size_t sockets) {
        for (std::size_t s = 0; s < sockets; ++s) {
            outputs.push_back(out<std::uint64_t>(fmt::format("y{}", s), bytes / 8));
        }
        task("begin", &Begin::run);
    }
    std::vector<Out<std::uint64_t>> outputs{};

  private:
    void run(Frame f) {
        for (const auto& output : outputs) f[output][0] = f.number();
    }
};

class End : public Module {
  public:
    End(std::size_t bytes, std::size_t sockets) {
        for (std::size_t s = 0; s < sockets; ++s) {
            inputs.push_back(in<std::uint64_t>(fmt::format("x{}", s), bytes / 8));
        }
        task("end", &End::run);
    }
    std::vector<In<std::uint64_t>> inputs{};
    std::uint64_t sum = 0;

  private:
    void run(Frame f) {
        for (const auto& input : inputs) sum += f[input][0];
    }
};

struct Settings {
    std::size_t stages = 2;
    int ring = 16;
    WaitMode waiting = WaitMode::active;
    std::size_t bytes = 64;
    std::size_t sockets = 1;
    Pinning pinning = Pinning::kPacked;
    std::uint32_t batch = 1;
};

/// A first and a last stage, and stages between that only take their turn.
class Hops {
  public:
    explicit Hops(const Settings& settings) : settings_(settings), topology_(Topology::here()) {
        auto& begin = graph_.add<Begin>(settings.bytes, settings.sockets);
        for (std::size_t s = 2; s < settings.stages; ++s) {
            auto& idle = graph_.add(
                task(fmt::format("idle{}", s), in<std::uint64_t>("x", settings.bytes / 8), [](auto) {}));
            graph_.bind(begin.outputs[0], In<std::uint64_t>{&idle, idle["x"].index, begin.outputs[0].count});
        }
        end_ = &graph_.add<End>(settings.bytes, settings.sockets);
        for (std::size_t s = 0; s < settings.sockets; ++s) graph_.bind(begin.outputs[s], end_->inputs[s]);
        pipeline_.emplace(graph_, schedule(),
                          PipelineOptions{&topology_, 1, settings.waiting, settings.batch});
    }

    double frame_ns(std::uint64_t frames) {
        const bench::Stopwatch watch;
        run(frames, false);
        return watch.ns() / static_cast<double>(frames);
    }

    double median_latency_us(std::uint64_t frames) { return run(frames, true).latency.p50_us; }

    std::size_t token_bytes() { return run(1, false).token_bytes(); }

  private:
    RunReport run(std::uint64_t frames, bool statistics) {
        end_->sum = 0;
        RunReport report = pipeline_->run({.frames = frames, .statistics = statistics});
        if (end_->sum != settings_.sockets * (frames * (frames - 1) / 2)) {
            throw std::logic_error("frames are missing");
        }
        return report;
    }

    Schedule schedule() const {
        Schedule schedule;
        for (std::size_t s = 0; s < settings_.stages; ++s) {
            Stage& stage = schedule.stages.emplace_back();
            stage.first_task = s;
            stage.task_count = 1;
            stage.core_kind = topology_.kinds.front().name;
            stage.pinning = settings_.pinning;
            if (s + 1 < settings_.stages) stage.sync_buff_size = settings_.ring;
        }
        return schedule;
    }

    Settings settings_;
    Topology topology_;
    Graph graph_;
    End* end_ = nullptr;
    std::optional<Pipeline> pipeline_;
};

/// Runs `produce` and `consume` on two threads of their own, pinned as the stages are.
template <class Produce, class Consume>
double two_threads_ns(std::uint64_t frames, Produce produce, Consume consume) {
    const Topology topology = Topology::here();
    const auto pinned = [&](std::size_t core, auto& work) {
        pin_this_thread(topology.cores[core % topology.cores.size()].pus);
        for (std::uint64_t frame = 0; frame < frames; ++frame) work(frame);
    };
    const bench::Stopwatch watch;
    {
        const std::jthread first([&] { pinned(0, produce); });
        const std::jthread second([&] { pinned(1, consume); });
    }
    return watch.ns() / static_cast<double>(frames);
}

/// One direction of the textbook channel: a pointer per slot, a slot per cache line.
class SlotRing {
  public:
    void push(std::uint64_t at, void* pointer) {
        std::atomic<void*>& slot = slots_[at % slots_.size()].pointer;
        wait_until([&] { return slot.load(std::memory_order_acquire) == nullptr; });
        slot.store(pointer, std::memory_order_release);
    }
    void* pop(std::uint64_t at) {
        std::atomic<void*>& slot = slots_[at % slots_.size()].pointer;
        void* pointer = nullptr;
        wait_until([&] { return (pointer = slot.load(std::memory_order_acquire)) != nullptr; });
        slot.store(nullptr, std::memory_order_release);
        return pointer;
    }

  private:
    template <class Condition>
    static void wait_until(Condition condition) {
        for (int i = 0; !condition(); ++i) i % 200 == 199 ? RealThreads::yield_core() : RealThreads::relax();
    }
    struct alignas(64) Slot {
        std::atomic<void*> pointer{nullptr};
    };
    std::array<Slot, 32> slots_;
};

double slot_rings_ns(std::uint64_t frames, std::size_t tokens) {
    SlotRing full;
    SlotRing free;
    std::vector<std::array<std::uint64_t, 8>> buffers(tokens);
    for (std::size_t i = 0; i < tokens; ++i) free.push(i, &buffers[i]);
    std::uint64_t sum = 0;
    const double elapsed = two_threads_ns(
        frames,
        [&](std::uint64_t frame) {
            auto* buffer = static_cast<std::uint64_t*>(free.pop(frame));
            *buffer = frame;
            full.push(frame, buffer);
        },
        [&](std::uint64_t frame) {
            auto* buffer = static_cast<std::uint64_t*>(full.pop(frame));
            sum += *buffer;
            free.push(frame + tokens, buffer);
        });
    if (sum != frames * (frames - 1) / 2) throw std::logic_error("frames are missing");
    return elapsed;
}

/// The queue that everyone writes first.
class LockedQueue {
  public:
    void push(std::uint64_t value) {
        {
            const std::lock_guard lock(mutex_);
            values_.push(value);
        }
        changed_.notify_one();
    }
    std::uint64_t pop() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !values_.empty(); });
        const std::uint64_t value = values_.front();
        values_.pop();
        return value;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::queue<std::uint64_t> values_;
};

double locked_queues_ns(std::uint64_t frames, std::size_t tokens) {
    LockedQueue full;
    LockedQueue free;
    for (std::size_t i = 0; i < tokens; ++i) free.push(i);
    std::uint64_t sum = 0;
    const double elapsed = two_threads_ns(
        frames,
        [&](std::uint64_t frame) {
            free.pop();
            full.push(frame);
        },
        [&](std::uint64_t) {
            const std::uint64_t frame = full.pop();
            sum += frame;
            free.push(frame);
        });
    if (sum != frames * (frames - 1) / 2) throw std::logic_error("frames are missing");
    return elapsed;
}

double one_token_ns(std::uint64_t frames, WaitMode mode) {
    TokenRing ring({.tokens = 1, .frames = 1, .frame_bytes = 64}, 2, mode != WaitMode::active);
    std::uint64_t sum = 0;
    const double elapsed = two_threads_ns(
        frames,
        [&](std::uint64_t frame) {
            Token* token = ring.take(ring.at(frame), 0, mode);
            token->first_mark.born = frame;
            ring.pass(*token, frame, 0);
        },
        [&](std::uint64_t frame) {
            Token* token = ring.take(ring.at(frame), 1, mode);
            sum += token->first_mark.born;
            ring.pass(*token, frame, 1);
        });
    if (sum != frames * (frames - 1) / 2) throw std::logic_error("frames are missing");
    return elapsed;
}

template <class Measured, class Baseline>
void compare(benchmark::State& state, Measured measured, Baseline baseline,
             const bench::Levels& levels = {}) {
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(measured(), baseline());
    }
    ratio.report(state, levels);
}

double baseline_ns(WaitMode waiting, std::uint64_t frames, std::size_t tokens) {
    return waiting == WaitMode::active ? slot_rings_ns(frames, tokens) : locked_queues_ns(frames, tokens);
}

std::uint64_t frames_for(WaitMode waiting) {
    return waiting == WaitMode::active ? 200'000 : 20'000;
}

void two_threads(benchmark::State& state, WaitMode waiting, std::size_t bytes, const bench::Levels& levels) {
    Hops hops({.waiting = waiting, .bytes = bytes});
    const std::uint64_t frames = frames_for(waiting);
    compare(
        state, [&] { return hops.frame_ns(frames); }, [&] { return baseline_ns(waiting, frames, 18); },
        levels);
}

void round_trip(benchmark::State& state, WaitMode waiting) {
    const std::uint64_t frames = waiting == WaitMode::active ? 50'000 : 2'000;
    compare(
        state, [&] { return one_token_ns(frames, waiting); },
        [&] { return baseline_ns(waiting, frames, 1); });
}

void three_active_stages(benchmark::State& state) {
    Hops three({.stages = 3, .pinning = Pinning::kGuided});
    Hops two({.stages = 2, .pinning = Pinning::kGuided});
    compare(
        state, [&] { return three.frame_ns(20'000); }, [&] { return two.frame_ns(20'000); },
        {.target = 5'000});
}

void sockets(benchmark::State& state, WaitMode waiting) {
    constexpr double kHops = 3;
    Settings settings{.stages = 4, .waiting = waiting, .pinning = Pinning::kGuided};
    Hops one(settings);
    settings.sockets = 10;
    Hops ten(settings);
    compare(
        state, [&] { return ten.frame_ns(20'000) / kHops; }, [&] { return one.frame_ns(20'000) / kHops; });
}

// A frame may be in each of the four stages and 16 more in each of the three rings.
void memory(benchmark::State& state, std::size_t socket_count) {
    constexpr double kTokens = 4 + 3 * 16;
    constexpr std::size_t kSocketBytes = 4096;
    Hops hops({.stages = 4, .bytes = kSocketBytes, .sockets = socket_count, .pinning = Pinning::kGuided});
    const double live_kib = kTokens * static_cast<double>(socket_count * kSocketBytes) / 1024;
    compare(
        state, [&] { return static_cast<double>(hops.token_bytes()) / 1024; }, [&] { return live_kib; });
}

void batch(benchmark::State& state, WaitMode waiting) {
    Hops batches({.waiting = waiting, .batch = static_cast<std::uint32_t>(state.range(0))});
    Hops single({.waiting = waiting});
    const std::uint64_t frames = frames_for(waiting);
    std::vector<double> latencies_us;
    compare(
        state,
        [&] {
            latencies_us.push_back(batches.median_latency_us(frames));
            return batches.frame_ns(frames);
        },
        [&] { return single.frame_ns(frames); });
    state.counters["latency_us"] = median(latencies_us);
}

void batches(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("of")->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Apply(bench::once);
}

BENCHMARK_CAPTURE(two_threads, a64, WaitMode::active, 64, {.target = 100})
    ->Name("hop/two_threads/active,_64_B_frames")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(two_threads, a64k, WaitMode::active, 65536, {.target = 100})
    ->Name("hop/two_threads/active,_64_KiB_frames")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(two_threads, p64, WaitMode::passive, 64, {.target = 600})
    ->Name("hop/two_threads/passive,_64_B_frames")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(two_threads, p64k, WaitMode::passive, 65536, {.target = 600})
    ->Name("hop/two_threads/passive,_64_KiB_frames")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(two_threads, m64, WaitMode::mixed, 64, {})
    ->Name("hop/two_threads/mixed,_64_B_frames")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(round_trip, active, WaitMode::active)->Name("hop/round_trip/active")->Apply(bench::once);
BENCHMARK_CAPTURE(round_trip, passive, WaitMode::passive)->Name("hop/round_trip/passive")->Apply(bench::once);
BENCHMARK(three_active_stages)->Name("hop/three_active_stages/unpinned")->Apply(bench::once);
BENCHMARK_CAPTURE(sockets, active, WaitMode::active)->Name("hop/sockets/active")->Apply(bench::once);
BENCHMARK_CAPTURE(sockets, passive, WaitMode::passive)->Name("hop/sockets/passive")->Apply(bench::once);
BENCHMARK_CAPTURE(memory, one, 1)->Name("hop/memory/1_socket_of_4_KiB")->Apply(bench::once);
BENCHMARK_CAPTURE(memory, ten, 10)->Name("hop/memory/10_sockets_of_4_KiB")->Apply(bench::once);
BENCHMARK_CAPTURE(batch, active, WaitMode::active)->Name("hop/batch/active")->Apply(batches);
BENCHMARK_CAPTURE(batch, passive, WaitMode::passive)->Name("hop/batch/passive")->Apply(batches);

}  // namespace
}  // namespace tidemill
