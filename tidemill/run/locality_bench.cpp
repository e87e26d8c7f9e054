// Where do a frame's bytes stay between stages, and does it pay to keep stages on cores that share a cache?
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/run/detail_bench_ratio.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 7;
constexpr std::size_t kMostStages = 16;  // as in the published experiment

/// Zeros at the beginning of the chain.
class Zeros : public Module {
  public:
    explicit Zeros(std::size_t bytes) : buffer(out<std::uint32_t>("buffer", bytes / 4)) {
        task("clear", &Zeros::clear);
    }
    Out<std::uint32_t> buffer;

  private:
    void clear(Frame f) { std::ranges::fill(f[buffer], 0u); }
};

/// A streaming increment: every word of the buffer plus one, in place.
class Increment : public Module {
  public:
    explicit Increment(std::size_t bytes) : buffer(forward<std::uint32_t>("buffer", bytes / 4)) {
        task("add_one", &Increment::add_one);
    }
    Forward<std::uint32_t> buffer;
    std::uint32_t last = 0;

  private:
    void add_one(Frame f) {
        for (std::uint32_t& word : f[buffer]) ++word;
        last = f[buffer].back();
    }
};

/// One stage per core, up to sixteen, and at least two: the first clears, each other one increments.
class IncrementChain {
  public:
    IncrementChain(std::size_t bytes, const Topology& topology)
        : bytes_(bytes),
          topology_(topology),
          stages_(std::clamp<std::size_t>(topology.cores.size(), 2, kMostStages)) {
        auto& zeros = graph_.add<Zeros>(bytes);
        SocketRef last = zeros.buffer;
        for (std::size_t s = 1; s < stages_; ++s) {
            last_ = &graph_.add<Increment>(bytes);
            graph_.bind(last, last_->buffer);
            last = last_->buffer;
        }
    }

    std::size_t stages() const { return stages_; }

    double gigabytes_per_second(std::optional<Pinning> pinning) {
        const std::uint64_t frames = std::max<std::uint64_t>(5, (std::uint64_t{32} << 20) / bytes_);
        const RunReport report = pinning ? Pipeline(graph_, schedule(*pinning), {.topology = &topology_})
                                               .run({.frames = frames, .statistics = false})
                                         : Sequence(graph_).run({.frames = frames, .statistics = false});
        if (last_->last != stages_ - 1) throw std::logic_error("an increment is missing");
        return static_cast<double>(frames * bytes_ * stages_) / report.elapsed_s / 1e9;
    }

  private:
    Schedule schedule(Pinning pinning) const {
        Schedule schedule;
        for (std::size_t s = 0; s < stages_; ++s) {
            Stage& stage = schedule.stages.emplace_back();
            stage.first_task = s;
            stage.task_count = 1;
            stage.core_kind = topology_.kinds.front().name;
            stage.pinning = pinning;
            if (s + 1 < stages_) stage.sync_buff_size = 1;
        }
        return schedule;
    }

    std::size_t bytes_;
    const Topology& topology_;
    std::size_t stages_;
    Graph graph_;
    Increment* last_ = nullptr;
};

// The smallest cache that holds one buffer.
std::string cache_of(std::size_t bytes, const Topology& topology) {
    for (const Cache& cache : topology.caches) {
        if (cache.size_bytes >= bytes)
            return fmt::format("L{} of {} KiB", cache.level, cache.size_bytes >> 10);
    }
    return topology.caches.empty() ? "caches unknown" : "memory";
}

// Question: how many gigabytes a second do streaming increments, one per stage, touch under each pinning
// policy? Baseline: the same chain in order on one thread, where a buffer never changes its core.
void streaming_increments(benchmark::State& state, Pinning pinning) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const Topology topology = Topology::here();
    IncrementChain chain(bytes, topology);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(chain.gigabytes_per_second(pinning), chain.gigabytes_per_second({}));
        }
    }
    ratio.report(state, "GB_per_second", "GB_per_second_in_order");
    state.counters["stages"] = static_cast<double>(chain.stages());
    state.SetLabel(
        fmt::format("{} buffer in {}",
                    bytes < 1048576 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20),
                    cache_of(bytes, topology)));
}

void sweep(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("bytes")->Iterations(1)->Unit(benchmark::kMillisecond);
    for (std::int64_t bytes = 4096; bytes <= 64 << 20; bytes *= 4) benchmark->Arg(bytes);
}

BENCHMARK_CAPTURE(streaming_increments, loose, Pinning::kLoose)->Apply(sweep);
BENCHMARK_CAPTURE(streaming_increments, guided, Pinning::kGuided)->Apply(sweep);
BENCHMARK_CAPTURE(streaming_increments, packed, Pinning::kPacked)->Apply(sweep);
BENCHMARK_CAPTURE(streaming_increments, distant, Pinning::kDistant)->Apply(sweep);

}  // namespace
}  // namespace tidemill
