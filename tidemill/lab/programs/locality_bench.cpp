// Where do a frame's bytes stay between stages, and does it pay to keep stages on cores that share a cache?
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/lab/programs/increment_chain.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 5;

const bool kAsked = bench::ask({"locality/increments",
                                "How many gigabytes a second do streaming increments touch, one per stage "
                                "and one stage per core (at most "
                                "16), by the size of the buffer?\nBeside packed stages the same in order on "
                                "one thread, where a buffer never "
                                "changes its core, and the other ways of pinning.",
                                "GB/s packed", "in order"});

std::string size_text(std::size_t bytes) {
    return bytes < 1048576 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20);
}

// The smallest cache that holds so many bytes.
std::string cache_of(std::size_t bytes, const Topology& topology) {
    for (const Cache& cache : topology.caches) {
        if (cache.size_bytes >= bytes) return fmt::format("L{}", cache.level);
    }
    return topology.caches.empty() ? "unknown" : "memory";
}

/// Numbers from which the conclusion is read.
struct Measured {
    std::size_t token_bytes;
    double packed_ns;
    double in_order_ns;
    double loose_ns;
};

std::map<std::size_t, Measured>& all_measured() {
    static std::map<std::size_t, Measured> measured;
    return measured;
}

void increments(benchmark::State& state) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const Topology topology = Topology::here();
    IncrementChain chain(bytes, topology);
    const auto touched = static_cast<double>(bytes * chain.stages());
    bench::Ratio ratio;
    std::vector<double> guided;
    std::vector<double> distant;
    std::vector<double> loose;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            ratio.add(touched / chain.frame_ns(Pinning::kPacked), touched / chain.frame_ns({}));
            guided.push_back(touched / chain.frame_ns(Pinning::kGuided));
            distant.push_back(touched / chain.frame_ns(Pinning::kDistant));
            loose.push_back(touched / chain.frame_ns(Pinning::kLoose));
        }
    }
    ratio.report(state);
    state.counters["distant"] = median(distant);
    state.counters["guided"] = median(guided);
    state.counters["loose"] = median(loose);
    state.SetLabel(fmt::format("{}: {}, in flight {}", size_text(bytes), cache_of(bytes, topology),
                               cache_of(chain.token_bytes(), topology)));
    all_measured()[bytes] = {chain.token_bytes(), touched / ratio.measured(), touched / ratio.baseline(),
                             touched / median(loose)};
}

std::string sizes_where(const std::function<bool(const Measured&)>& holds) {
    std::string sizes;
    for (const auto& [bytes, each] : all_measured()) {
        if (holds(each)) sizes += (sizes.empty() ? "" : ", ") + size_text(bytes);
    }
    return sizes.empty() ? "no size" : sizes;
}

// Why stages are slower than one thread with such a buffer, as far as the numbers show.
std::string reason(std::size_t bytes, const Measured& each, const Topology& topology, double stages) {
    const std::string in_order = cache_of(bytes, topology);
    const std::string in_flight = cache_of(each.token_bytes, topology);
    if (in_order != in_flight) {
        return fmt::format("one buffer fits {}, the {} in flight need {}", in_order,
                           size_text(each.token_bytes), in_flight);
    }
    const double share_ns = each.in_order_ns / stages;
    return fmt::format(
        "a stage's share of the work is {:.0f} ns, its frame's way to the other core adds {:.0f} ns",
        share_ns, each.packed_ns - share_ns);
}

std::string conclusion() {
    constexpr double kClearly = 1.05;
    const Topology topology = Topology::here();
    const std::size_t stages = IncrementChain(4, topology).stages();
    std::string text = fmt::format(
        "{} packed stages beat one thread by more than 5 % with {}.", stages,
        sizes_where([](const Measured& each) { return kClearly * each.packed_ns < each.in_order_ns; }));
    for (const auto& [bytes, each] : all_measured()) {
        if (each.packed_ns < kClearly * each.in_order_ns) continue;
        text += fmt::format("\nThey lose with {}: {}.", size_text(bytes),
                            reason(bytes, each, topology, static_cast<double>(stages)));
    }
    return text + fmt::format("\nLeft to the system (loose), they are over 5 % slower than packed with {}.",
                              sizes_where([](const Measured& each) {
                                  return each.loose_ns > kClearly * each.packed_ns;
                              }));
}

void conclude(benchmark::State& state) {
    for (auto _ : state) {
        if (!all_measured().empty()) state.SetLabel(conclusion());
    }
}

void sweep(benchmark::internal::Benchmark* benchmark) {
    for (std::int64_t bytes = 4096; bytes <= 64 << 20; bytes *= 4) benchmark->Arg(bytes);
    benchmark->ArgName("bytes")->Apply(bench::once);
}

BENCHMARK(increments)->Name("locality/increments")->Apply(sweep);
BENCHMARK(conclude)->Name("locality/increments/conclusion")->Apply(bench::once);

}  // namespace
}  // namespace tidemill
