#include <algorithm>
#include <cmath>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/front/testing/front_signal.hpp"
#include "tidemill/dvbs2/receiver/testing/endless_source.hpp"
#include "tidemill/dvbs2/receiver/testing/front_symbols.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint64_t kBlocksARun = 50;

std::vector<std::byte> as_ci8(const std::vector<Iq>& samples) {
    const auto value = [](float x) {
        return static_cast<std::byte>(std::lround(std::clamp(30.0F * x, -127.0F, 127.0F)));
    };
    std::vector<std::byte> bytes;
    for (const Iq x : samples) bytes.insert(bytes.end(), {value(x.real()), value(x.imag())});
    return bytes;
}

// The family asks its question in front_bench.cpp.
void bench_whole_front_from_ci8(benchmark::State& state) {
    internal::EndlessSource source(
        as_ci8(make_signal({.symbols = 400000, .cfo = 0.01, .ppm = 20.0, .esn0_db = 7.5}).samples),
        dsp::SampleFormat::ci8, 2.0);
    std::uint64_t symbols = 0;
    Graph graph;
    const auto front = internal::add_front_into(graph, source, {2.0, 1.0, 0.2, kMaxBlockSamples},
                                                [&](const SymbolBlock& block) { symbols += block.count; });
    Sequence sequence(graph);
    const auto run = [&] {
        const std::uint64_t end = front.source.samples() + kBlocksARun * kMaxBlockSamples;
        sequence.run({.stop_when = [&] { return front.source.samples() >= end; }, .statistics = false});
    };
    run();
    symbols = 0;
    for (auto _ : state) run();
    bench::report_total(state, 1e-6 * static_cast<double>(symbols));
}
BENCHMARK(bench_whole_front_from_ci8)->Name("front/whole_front_from_ci8");

}  // namespace
}  // namespace tidemill::dvbs2
