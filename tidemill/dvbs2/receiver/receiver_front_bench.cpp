#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/front/internal/front_signal.hpp"
#include "tidemill/dvbs2/receiver/internal/front_symbols.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr std::uint64_t kBlocksARun = 50;

/// A recording that begins anew when it ends.
class EndlessSource final : public io::SampleSource {
  public:
    explicit EndlessSource(const std::vector<Iq>& samples) {
        const auto value = [](float x) {
            return static_cast<std::byte>(std::lround(std::clamp(30.0F * x, -127.0F, 127.0F)));
        };
        for (const Iq x : samples) bytes_.insert(bytes_.end(), {value(x.real()), value(x.imag())});
    }

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 2.0; }
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t count = std::min(to.size(), bytes_.size() - at_);
        std::memcpy(to.data(), bytes_.data() + at_, count);
        at_ = (at_ + count) % bytes_.size();
        return count;
    }

  private:
    std::vector<std::byte> bytes_;
    std::size_t at_ = 0;
};

// The family asks its question in front_bench.cpp.
void bench_whole_front_from_ci8(benchmark::State& state) {
    EndlessSource source(make_signal({.symbols = 400000, .cfo = 0.01, .ppm = 20.0, .esn0_db = 7.5}).samples);
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
