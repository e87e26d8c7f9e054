#include <cmath>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/testing/endless_source.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/io/live/stream_reader.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr double kSymbolRate = 1e6;
constexpr std::size_t kSamples = 1 << 20;

const bool kAsked =
    bench::ask(
        {"tuner",
         "How many million samples a second of ci16 does a tuner take in on one core, with so many a symbol "
         "and a neighbour at 1.25 symbol rates, and in how many cycles a sample?",
         "Msamples/s"}) &&
    bench::ask(
        {"receiver/tuner",
         "How many million symbols a second does a receiver take in on one core, from ci16 in memory with a "
         "carrier beside the middle, alone, QPSK 8/9, short frames with pilots, 10 dB?",
         "Msymbols/s", "2 a symbol, no tuner"});

std::vector<std::byte> noise_bytes() {
    std::vector<dsp::Iq> samples(kSamples);
    dsp::add_gaussian_noise(1, 0, 1, samples);
    return internal::as_ci16(samples);
}

void bench_tuner(benchmark::State& state, double samples_per_symbol, double cycles) {
    static const std::vector<std::byte> bytes = noise_bytes();
    const double rate = samples_per_symbol * kSymbolRate;
    TunedSource tuner(
        std::make_unique<internal::EndlessSource>(bytes, dsp::SampleFormat::ci16, rate),
        {.symbol_rate_hz = kSymbolRate, .offset_hz = 0.1 * kSymbolRate, .neighbour_hz = 0.65 * kSymbolRate});
    std::vector<std::byte> out(1 << 18);
    for (auto _ : state) benchmark::DoNotOptimize(tuner.read(out));
    const auto taken = static_cast<double>(tuner.samples());
    bench::report_total(state, 1e-6 * taken);
    bench::report_cycles(state, taken / static_cast<double>(state.iterations()), cycles);
}
BENCHMARK_CAPTURE(bench_tuner, 2_4, 2.4, 0)->Name("tuner/2.4_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 4, 4, 0)->Name("tuner/4_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 8, 8, 14)->Name("tuner/8_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 9_6, 9.6, 14)->Name("tuner/9.6_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 19_2, 19.2, 14)->Name("tuner/19.2_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 300, 300, 14)->Name("tuner/300_samples_a_symbol");

std::vector<std::byte> recording_of_carrier(double sample_rate_hz, double offset_hz) {
    const internal::BandCarrier carrier{
        .symbol_rate_hz = kSymbolRate, .offset_hz = offset_hz, .pls = {10, FrameSize::short_, true}};
    return internal::as_ci16(
        internal::make_band({.sample_rate_hz = sample_rate_hz, .seconds = 2}, std::vector{carrier}).samples);
}

// Million symbols a second of processor time; 0 where frames are bad.
double received_rate(io::SampleSource& source) {
    Receiver receiver(source, {.symbol_rate_hz = kSymbolRate}, [](auto) {});
    const double seconds = bench::cpu_seconds([&] { Sequence(receiver.graph()).run({.statistics = false}); });
    if (receiver.totals().frames == 0 || receiver.totals().frames_bad > 0) return 0;
    return 1e-6 * static_cast<double>(receiver.report().sync.symbols) / seconds;
}

void bench_receiver(benchmark::State& state, double samples_per_symbol, double target) {
    constexpr int kRounds = 5;
    const double rate = samples_per_symbol * kSymbolRate, offset_hz = 0.1 * kSymbolRate;
    const auto bytes = recording_of_carrier(rate, offset_hz);
    const auto plain_bytes = recording_of_carrier(2 * kSymbolRate, 0);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            TunedSource tuned(std::make_unique<io::MemoryReader>(bytes, dsp::SampleFormat::ci16, rate),
                              {.symbol_rate_hz = kSymbolRate, .offset_hz = offset_hz});
            io::MemoryReader plain(plain_bytes, dsp::SampleFormat::ci16, 2 * kSymbolRate);
            ratio.add(received_rate(tuned), received_rate(plain));
        }
    }
    if (ratio.measured() == 0 || ratio.baseline() == 0)
        return state.SkipWithError("frames are missing or bad");
    ratio.report(state, {.target = target * ratio.baseline()});
}
BENCHMARK_CAPTURE(bench_receiver, 2_4, 2.4, 0.7)
    ->Name("receiver/tuner/2.4_samples_a_symbol")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(bench_receiver, 8, 8, 0)->Name("receiver/tuner/8_samples_a_symbol")->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2
