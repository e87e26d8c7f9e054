#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/dvbs2/sync/frame_sync.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

const bool kAsked =
    bench::ask(
        {"frame_sync/locked",
         "How many million symbols a second does frame synchronisation take on one core while it is locked?",
         "Msymbols/s"}) &&
    bench::ask({"frame_sync/searching",
                "How many million symbols of noise a second are searched for a first header?", "Msymbols/s"});

void locked(benchmark::State& state, Pls pls) {
    const PlScrambler scrambler(0);
    std::mt19937 random(1);
    std::vector<internal::TestFrame> sent;
    for (int i = 0; i < 20; ++i) {
        sent.push_back(internal::make_frame(pls, scrambler, random));
    }
    const auto stream = internal::transmit(internal::join(sent), {.esn0_db = 6, .frequency = 0.01}, random);
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
    bench::report_total(state, 1e-6 * static_cast<double>(sync.counts().symbols));
    state.counters["target"] = 250;
}
BENCHMARK_CAPTURE(locked, qpsk_short, Pls{10, FrameSize::short_, true})->Name("frame_sync/locked/qpsk_short");
BENCHMARK_CAPTURE(locked, qpsk_normal, Pls{7, FrameSize::normal, true})
    ->Name("frame_sync/locked/qpsk_normal");
BENCHMARK_CAPTURE(locked, apsk32_short, Pls{24, FrameSize::short_, true})
    ->Name("frame_sync/locked/apsk32_short");

void searching(benchmark::State& state) {
    const PlScrambler scrambler(0);
    std::mt19937 random(2);
    const auto stream = internal::noise(200000, 0, random);
    std::vector<Iq> frame(kFrameBufferSymbols);
    FrameSync sync(scrambler);
    for (auto _ : state) {
        sync.push(stream);
        benchmark::DoNotOptimize(sync.pop(frame));
    }
    bench::report_total(state, 1e-6 * static_cast<double>(sync.counts().symbols));
}
BENCHMARK(searching)->Name("frame_sync/searching");

}  // namespace
}  // namespace tidemill::dvbs2
