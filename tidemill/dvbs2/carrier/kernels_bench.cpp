#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dvbs2/carrier/internal/derotate.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/dvbs2/sync/internal/header_correlation.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

const bool kAsked =
    bench::ask(
        {"kernel",
         "How many million symbols a second does each kernel take in on one core, and in how many cycles? "
         "Beside them those that its multiplications and additions take at sixteen floats a cycle.",
         "Msymbols/s"}) &&
    bench::ask(
        {"header",
         "How many million headers a second are matched with all 128 codes by a fast Hadamard transform?",
         "Mheaders/s", "code by code"});

constexpr std::size_t kSymbols = 8192;
constexpr double kFloatsPerCycle = 16;

std::vector<Iq> some_symbols(std::size_t count) {
    std::mt19937 random(1);
    return internal::noise(count, 0, random);
}

void count_symbols(benchmark::State& state, double floats) {
    bench::report_rate(state, 1e-6 * kSymbols);
    bench::report_cycles(state, kSymbols, floats / kFloatsPerCycle);
}

// Unscrambling and the carrier in one: two products of complex numbers, and the oscillator's own.
void bench_derotate(benchmark::State& state) {
    const auto in = some_symbols(kSymbols), factor = some_symbols(kSymbols);
    dsp::AlignedVector<Iq> out(kSymbols);
    internal::Derotator derotate;
    for (auto _ : state) {
        derotate(in, factor, {0.1, 0.001}, out);
        benchmark::ClobberMemory();
    }
    count_symbols(state, 3 * 4);
}
BENCHMARK(bench_derotate)->Name("kernel/derotate");

void bench_multiply_neighbours(benchmark::State& state) {
    const auto in = some_symbols(kSymbols);
    dsp::AlignedVector<float> re(kSymbols), im(kSymbols);
    for (auto _ : state) {
        internal::multiply_neighbours(in, re, im);
        benchmark::ClobberMemory();
    }
    count_symbols(state, 4);
}
BENCHMARK(bench_multiply_neighbours)->Name("kernel/multiply_neighbours");

void bench_correlate_headers(benchmark::State& state) {
    const auto in = some_symbols(kSymbols + 89);
    dsp::AlignedVector<float> re(in.size()), im(in.size()), metric(kSymbols);
    internal::multiply_neighbours(in, re, im);
    for (auto _ : state) benchmark::DoNotOptimize(internal::correlate_headers(re, im, metric));
    count_symbols(state, 2 * internal::kHeaderProducts);
}
BENCHMARK(bench_correlate_headers)->Name("kernel/correlate_headers");

// The best of all codes, one after the other: what match_header finds at once.
int match_code_by_code(std::span<const Iq, kHeaderSymbols> symbols) {
    int best = 0;
    float most = -1;
    for (int code = 0; code < 128; ++code) {
        const auto references = header_references(code);
        Iq sum{};
        for (std::size_t i = 0; i < symbols.size(); ++i) sum += symbols[i] * references[i];
        if (std::norm(sum) > most) most = std::norm(sum), best = code;
    }
    return best;
}

void bench_match_header(benchmark::State& state) {
    constexpr int kHeaders = 1000;
    const auto symbols = header_symbols(77);
    bench::Ratio rate;
    for (auto _ : state) {
        for (int round = 0; round < 9; ++round) {
            int found = 0, found_slowly = 0;
            bench::Stopwatch fast;
            for (int i = 0; i < kHeaders; ++i) {
                found += match_header(symbols, 0.0F).code;
                benchmark::ClobberMemory();
            }
            const double fast_ns = fast.ns();
            bench::Stopwatch slow;
            for (int i = 0; i < kHeaders / 10; ++i) {
                found_slowly += match_code_by_code(symbols);
                benchmark::ClobberMemory();
            }
            const double slow_ns = 10 * slow.ns();
            if (found != 77 * kHeaders || found_slowly != 77 * kHeaders / 10)
                return state.SkipWithError("the wrong code");
            rate.add(1e3 * kHeaders / fast_ns, 1e3 * kHeaders / slow_ns);
        }
    }
    rate.report(state);
}
BENCHMARK(bench_match_header)->Name("header/match")->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2
