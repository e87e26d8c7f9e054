#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/detail_test_frames.hpp"
#include "tidemill/dvbs2/frame_sync.hpp"

namespace tidemill::dvbs2 {
namespace {

// Question: how many symbols a second can frame synchronisation take while it is locked? (goal: 250e6)
void locked(benchmark::State& state, Pls pls) {
    const PlScrambler scrambler(0);
    std::mt19937 random(1);
    std::vector<detail::TestFrame> sent;
    for (int i = 0; i < 20; ++i) {
        sent.push_back(detail::make_frame(pls, scrambler, random));
    }
    const auto stream = detail::transmit(detail::join(sent), {.esn0_db = 6, .frequency = 0.01}, random);
    std::vector<Iq> frame(kFrameBufferSymbols);
    FrameSync sync(scrambler);
    std::uint64_t frames = 0;
    for (auto _ : state) {
        for (std::size_t start = 0; start < stream.size(); start += 8192) {
            sync.push(std::span(stream).subspan(start, std::min<std::size_t>(8192, stream.size() - start)));
            while (sync.pop(frame)) {
                ++frames;
            }
        }
    }
    // The stream is repeated, so that its frequency jumps in phase, which frames after the first ignore.
    if (sync.counts().locks != 1 || frames + 20 < sync.counts().symbols / sent[0].symbols.size()) {
        state.SkipWithError("frames were lost");
    }
    state.counters["symbols"] =
        benchmark::Counter(static_cast<double>(sync.counts().symbols), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(locked, qpsk_short, Pls{10, FrameSize::short_, true});
BENCHMARK_CAPTURE(locked, qpsk_normal, Pls{7, FrameSize::normal, true});
BENCHMARK_CAPTURE(locked, apsk32_short, Pls{24, FrameSize::short_, true});

// Question: how fast is noise searched for a first header?
void searching(benchmark::State& state) {
    const PlScrambler scrambler(0);
    std::mt19937 random(2);
    const auto stream = detail::noise(200000, 0, random);
    std::vector<Iq> frame(kFrameBufferSymbols);
    FrameSync sync(scrambler);
    for (auto _ : state) {
        sync.push(stream);
        benchmark::DoNotOptimize(sync.pop(frame));
    }
    state.counters["symbols"] =
        benchmark::Counter(static_cast<double>(sync.counts().symbols), benchmark::Counter::kIsRate);
}
BENCHMARK(searching);

}  // namespace
}  // namespace tidemill::dvbs2
