// Cost of handing on a frame of varying size.
#include <cstdint>
#include <optional>

#include <benchmark/benchmark.h>

#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill {
namespace {

constexpr int kRounds = 11;
constexpr std::uint64_t kFrames = 100'000;
constexpr std::size_t kRoom = 64'800;
constexpr std::size_t kUsed = 1'000;

const bool kAsked =
    bench::ask({"graph/varying",
                "What does a frame cost of up to 64,800 bytes of which 1000 are used, over the end of a "
                "segment, which copies it?",
                "ns a frame", "always 1000 bytes"});

/// The reader gets what the source gave once the gate has let the frame through.
template <class Count>
class Gated {
  public:
    explicit Gated(Count count) {
        auto& source =
            graph_.add(task("source", out<std::uint8_t>("y", count), [n = std::uint8_t{0}](auto y) mutable {
                if constexpr (requires { y.resize(kUsed); }) y.resize(kUsed);
                y[0] = n++;
            }));
        auto& gate = graph_.add(task("gate", may_skip, sequential, in<std::uint8_t>("x", count),
                                     out<std::uint8_t>("first"), [](auto x, auto first) {
                                         first[0] = x[0];
                                         return Flow::ok;
                                     }));
        auto& sink = graph_.add(task("sink", in<std::uint8_t>("x", count), in<std::uint8_t>("first"),
                                     [this](auto x, auto) { bytes += x.size(); }));
        graph_.bind(source["y"], gate["x"]);
        graph_.bind(source["y"], sink["x"]);
        graph_.bind(gate["first"], sink["first"]);
        sequence_.emplace(graph_);
    }

    double frame_ns() {
        const bench::CpuStopwatch watch;
        sequence_->resume({.frames = kFrames, .statistics = false});
        return watch.ns() / static_cast<double>(kFrames);
    }

    std::uint64_t bytes = 0;

  private:
    Graph graph_;
    std::optional<Sequence> sequence_;
};

void varying(benchmark::State& state) {
    Gated ours(upto(kRoom));
    Gated fixed(kUsed);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) ratio.add(ours.frame_ns(), fixed.frame_ns());
    }
    if (ours.bytes != fixed.bytes) state.SkipWithError("bytes are missing");
    ratio.report(state);
}

BENCHMARK(varying)->Name("graph/varying")->Apply(bench::once);

}  // namespace
}  // namespace tidemill
