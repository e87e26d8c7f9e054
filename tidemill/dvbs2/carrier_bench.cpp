#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/carrier.hpp"
#include "tidemill/dvbs2/detail_test_frames.hpp"

namespace tidemill::dvbs2 {
namespace {

struct Heard {
    PlScrambler scrambler{0};
    std::vector<Iq> frame = std::vector<Iq>(kFrameBufferSymbols);
    FrameInfo info;
};

// A frame in the midst of some, so that its frequency is known as well as it will be.
Heard hear(Pls pls) {
    Heard heard;
    std::mt19937 random(1);
    std::vector<detail::TestFrame> sent;
    for (int i = 0; i < 8; ++i) {
        sent.push_back(detail::make_frame(pls, heard.scrambler, random));
    }
    FrameSync sync(heard.scrambler);
    sync.push(detail::transmit(detail::join(sent), {.esn0_db = 8, .frequency = 0.01}, random));
    sync.flush();
    for (int i = 0; i < 5; ++i) {
        heard.info = sync.pop(heard.frame).value();
    }
    return heard;
}

void count_symbols(benchmark::State& state, const FrameInfo& info) {
    state.counters["symbols"] = benchmark::Counter(static_cast<double>(state.iterations()) * info.symbols,
                                                   benchmark::Counter::kIsRate);
}

// Question: how many symbols a second does one core's carrier estimate cover?
void estimate(benchmark::State& state, Pls pls) {
    const Heard heard = hear(pls);
    Carrier carrier(heard.scrambler);
    CarrierTrack track;
    for (auto _ : state) {
        carrier.estimate(heard.frame, heard.info, track);
        benchmark::ClobberMemory();
    }
    if (std::abs(track.frequency - 0.01) > 1e-5) {
        state.SkipWithError("wrong frequency");
    }
    count_symbols(state, heard.info);
}
BENCHMARK_CAPTURE(estimate, qpsk_short_pilots, Pls{10, FrameSize::short_, true});
BENCHMARK_CAPTURE(estimate, qpsk_normal_pilots, Pls{7, FrameSize::normal, true});
BENCHMARK_CAPTURE(estimate, qpsk_normal, Pls{7, FrameSize::normal, false});
BENCHMARK_CAPTURE(estimate, psk8_short, Pls{14, FrameSize::short_, false});

// Question: how fast are carrier, scrambling and pilots removed?
void remove(benchmark::State& state, Pls pls) {
    const Heard heard = hear(pls);
    Carrier carrier(heard.scrambler);
    CarrierTrack track;
    carrier.estimate(heard.frame, heard.info, track);
    std::vector<Iq> data(kMaxDataSymbols), known(kMaxKnownSymbols);
    for (auto _ : state) {
        benchmark::DoNotOptimize(carrier.remove(heard.frame, heard.info, track, data, known));
    }
    count_symbols(state, heard.info);
}
BENCHMARK_CAPTURE(remove, qpsk_short_pilots, Pls{10, FrameSize::short_, true});
BENCHMARK_CAPTURE(remove, qpsk_normal, Pls{7, FrameSize::normal, false});

}  // namespace
}  // namespace tidemill::dvbs2
