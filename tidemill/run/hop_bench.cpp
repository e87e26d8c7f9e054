// What does it cost a frame to go from one stage to the next?
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

#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/detail_bench_ratio.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/token_ring.hpp"
#include "tidemill/run/waiting.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 9;

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
};

/// A first and a last stage, and stages between that only take their turn.
class Hops {
  public:
    explicit Hops(const Settings& settings) : settings_(settings), topology_(Topology::here()) {
        auto& begin = graph_.add<Begin>(settings.bytes, settings.sockets);
        for (std::size_t s = 2; s < settings.stages; ++s) {
            auto& idle = graph_.add(
                task(fmt::format("idle{}", s), {}, in<std::uint64_t>("x", settings.bytes / 8), [](auto) {}));
            graph_.bind(begin.outputs[0], In<std::uint64_t>{&idle, idle["x"].index, begin.outputs[0].count});
        }
        end_ = &graph_.add<End>(settings.bytes, settings.sockets);
        for (std::size_t s = 0; s < settings.sockets; ++s) graph_.bind(begin.outputs[s], end_->inputs[s]);
        pipeline_.emplace(graph_, schedule(), PipelineOptions{&topology_, 1, settings.waiting});
    }

    double frame_ns(std::uint64_t frames) {
        end_->sum = 0;
        const bench::Stopwatch watch;
        pipeline_->run({.frames = frames, .statistics = false});
        const double elapsed = watch.ns();
        if (end_->sum != settings_.sockets * (frames * (frames - 1) / 2)) {
            throw std::logic_error("frames are missing");
        }
        return elapsed / static_cast<double>(frames);
    }

  private:
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
        for (int i = 0; !condition(); ++i) i % 200 == 199 ? detail::yield_core() : detail::relax();
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
void compare(benchmark::State& state, Measured measured, Baseline baseline, const char* unit,
             double per = 1) {
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(measured() / per, baseline() / per);
    }
    ratio.report(state, unit, "ns_baseline");
}

double baseline_ns(WaitMode waiting, std::uint64_t frames, std::size_t tokens) {
    return waiting == WaitMode::active ? slot_rings_ns(frames, tokens) : locked_queues_ns(frames, tokens);
}

// Question: what does a hop between two pinned threads cost, and does the frame's size matter? Baselines:
// active, two rings of padded pointer slots; otherwise, two queues under a mutex and a condition variable.
void one_hop(benchmark::State& state, WaitMode waiting, std::size_t bytes) {
    Hops hops({.waiting = waiting, .bytes = bytes});
    const std::uint64_t frames = waiting == WaitMode::active ? 200'000 : 20'000;
    compare(
        state, [&] { return hops.frame_ns(frames); }, [&] { return baseline_ns(waiting, frames, 18); },
        "ns_per_hop");
}

// Question: what does a token's way there and back cost, with nothing else in flight to hide it?
void round_trip(benchmark::State& state, WaitMode waiting) {
    const std::uint64_t frames = waiting == WaitMode::active ? 50'000 : 2'000;
    compare(
        state, [&] { return one_token_ns(frames, waiting); }, [&] { return baseline_ns(waiting, frames, 1); },
        "ns_per_round_trip");
}

// Question: what does a frame cost when three spinning stages share two cores? Baseline: two stages there.
void crowded(benchmark::State& state) {
    Hops three({.stages = 3, .pinning = Pinning::kGuided});
    Hops two({.stages = 2, .pinning = Pinning::kGuided});
    compare(
        state, [&] { return three.frame_ns(20'000); }, [&] { return two.frame_ns(20'000); }, "ns_per_frame");
}

// Question: do ten sockets over four stages cost more than one over two, per hop?
void ten_sockets(benchmark::State& state, WaitMode waiting) {
    const Settings common{.waiting = waiting, .pinning = Pinning::kGuided};
    Settings wide = common;
    wide.stages = 4;
    wide.sockets = 10;
    Settings narrow = wide;
    narrow.sockets = 1;
    Hops ten(wide);
    Hops one(narrow);
    compare(
        state, [&] { return ten.frame_ns(20'000); }, [&] { return one.frame_ns(20'000); }, "ns_per_hop", 3);
}

void once(benchmark::internal::Benchmark* benchmark) {
    benchmark->Iterations(1)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(one_hop, active_64_B, WaitMode::active, 64)->Apply(once);
BENCHMARK_CAPTURE(one_hop, active_64_KiB, WaitMode::active, 65536)->Apply(once);
BENCHMARK_CAPTURE(one_hop, passive_ring_of_16_64_B, WaitMode::passive, 64)->Apply(once);
BENCHMARK_CAPTURE(one_hop, passive_ring_of_16_64_KiB, WaitMode::passive, 65536)->Apply(once);
BENCHMARK_CAPTURE(one_hop, mixed_ring_of_16_64_B, WaitMode::mixed, 64)->Apply(once);
BENCHMARK_CAPTURE(round_trip, active, WaitMode::active)->Apply(once);
BENCHMARK_CAPTURE(round_trip, passive, WaitMode::passive)->Apply(once);
BENCHMARK(crowded)->Apply(once)->Name("three_active_stages_on_two_cores");
BENCHMARK_CAPTURE(ten_sockets, active, WaitMode::active)->Apply(once);
BENCHMARK_CAPTURE(ten_sockets, passive, WaitMode::passive)->Apply(once);

}  // namespace
}  // namespace tidemill
