#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/carrier/carrier.hpp"
#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

const bool kAsked =
    bench::ask({"carrier/estimate",
                "How many million symbols a second does one core's carrier estimate cover?", "Msymbols/s"}) &&
    bench::ask({"carrier/remove",
                "From how many million symbols a second does one core remove carrier, scrambling and pilots?",
                "Msymbols/s"});

struct Heard {
    PlScrambler scrambler{0};
    std::vector<Iq> frame = std::vector<Iq>(kFrameBufferSymbols);
    FrameInfo info;
};

// A frame in the midst of some, so that its frequency is known as well as it will be.
Heard hear(Pls pls) {
    Heard heard;
    std::mt19937 random(1);
    std::vector<internal::TestFrame> sent;
    for (int i = 0; i < 8; ++i) {
        sent.push_back(internal::make_frame(pls, heard.scrambler, random));
    }
    FrameSync sync(heard.scrambler);
    sync.push(internal::transmit(internal::join(sent), {.esn0_db = 8, .frequency = 0.01}, random));
    sync.flush();
    for (int i = 0; i < 5; ++i) {
        heard.info = sync.pop(heard.frame).value();
    }
    return heard;
}

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
    bench::report_rate(state, 1e-6 * heard.info.symbols);
}
BENCHMARK_CAPTURE(estimate, qpsk_short_pilots, Pls{10, FrameSize::short_, true})
    ->Name("carrier/estimate/qpsk_short_pilots");
BENCHMARK_CAPTURE(estimate, qpsk_normal_pilots, Pls{7, FrameSize::normal, true})
    ->Name("carrier/estimate/qpsk_normal_pilots");
BENCHMARK_CAPTURE(estimate, qpsk_normal, Pls{7, FrameSize::normal, false})
    ->Name("carrier/estimate/qpsk_normal");
BENCHMARK_CAPTURE(estimate, psk8_short, Pls{14, FrameSize::short_, false})
    ->Name("carrier/estimate/psk8_short");

void remove(benchmark::State& state, Pls pls) {
    const Heard heard = hear(pls);
    Carrier carrier(heard.scrambler);
    CarrierTrack track;
    carrier.estimate(heard.frame, heard.info, track);
    std::vector<Iq> data(kMaxDataSymbols), known(kMaxKnownSymbols);
    for (auto _ : state) {
        benchmark::DoNotOptimize(carrier.remove(heard.frame, heard.info, track, data, known));
    }
    bench::report_rate(state, 1e-6 * heard.info.symbols);
}
BENCHMARK_CAPTURE(remove, qpsk_short_pilots, Pls{10, FrameSize::short_, true})
    ->Name("carrier/remove/qpsk_short_pilots");
BENCHMARK_CAPTURE(remove, qpsk_normal, Pls{7, FrameSize::normal, false})->Name("carrier/remove/qpsk_normal");

}  // namespace
}  // namespace tidemill::dvbs2
