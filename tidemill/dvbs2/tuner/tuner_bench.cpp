#include <cmath>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/internal/endless_source.hpp"
#include "tidemill/dvbs2/receiver/internal/wide_band.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr double kSymbolRate = 1e6;
constexpr std::size_t kSamples = 1 << 20;

const bool kAsked = bench::ask(
    {"tuner",
     "How many million samples a second of ci16 does a tuner take in on one core, with so many a symbol "
     "and a neighbour at 1.25 symbol rates, and in how many cycles a sample?",
     "Msamples/s"});

std::vector<std::byte> noise_bytes() {
    std::vector<dsp::Iq> samples(kSamples);
    dsp::add_gaussian_noise(1, 0, 1, samples);
    return internal::as_ci16(samples);
}

void bench_tuner(benchmark::State& state, double samples_per_symbol) {
    static const std::vector<std::byte> bytes = noise_bytes();
    const double rate = samples_per_symbol * kSymbolRate;
    TunedSource tuner(
        std::make_unique<internal::EndlessSource>(bytes, dsp::SampleFormat::ci16, rate),
        {.symbol_rate_hz = kSymbolRate, .offset_hz = 0.1 * kSymbolRate, .neighbour_hz = 0.65 * kSymbolRate});
    std::vector<std::byte> out(1 << 18);
    for (auto _ : state) benchmark::DoNotOptimize(tuner.read(out));
    const auto taken = static_cast<double>(tuner.samples());
    bench::report_total(state, 1e-6 * taken);
    bench::report_cycles(state, taken / static_cast<double>(state.iterations()), 0);
}
BENCHMARK_CAPTURE(bench_tuner, 2_4, 2.4)->Name("tuner/2.4_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 4, 4)->Name("tuner/4_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 8, 8)->Name("tuner/8_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 9_6, 9.6)->Name("tuner/9.6_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 19_2, 19.2)->Name("tuner/19.2_samples_a_symbol");
BENCHMARK_CAPTURE(bench_tuner, 300, 300)->Name("tuner/300_samples_a_symbol");

}  // namespace
}  // namespace tidemill::dvbs2
