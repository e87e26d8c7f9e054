#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include "tidemill/dsp/aligned_vector.hpp"
#include "tidemill/dsp/half_symbol_moments.hpp"
#include "tidemill/dsp/interpolator.hpp"
#include "tidemill/dsp/iq_balance.hpp"
#include "tidemill/dsp/lag_correlation.hpp"
#include "tidemill/dsp/polyphase.hpp"
#include "tidemill/dsp/polyphase_pairs.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/quantizer.hpp"
#include "tidemill/dsp/rotator.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dsp/sampling_interpolator.hpp"
#include "tidemill/dsp/short_rotator.hpp"
#include "tidemill/dsp/sign_byte_interpolator.hpp"
#include "tidemill/dsp/split_fir.hpp"
#include "tidemill/dsp/split_fir16.hpp"
#include "tidemill/testing/bench.hpp"

namespace {

using namespace tidemill::dsp;

constexpr std::size_t kSamples = 16384;

const bool kAsked = tidemill::bench::ask({"kernel",
                                          "How many million complex samples a second does each kernel take "
                                          "in on one core, from the second-level cache, and in how many "
                                          "cycles a sample? Beside them those that its multiplications, or "
                                          "loads and stores, take at sixteen floats a cycle.",
                                          "Msamples/s"});

AlignedVector<Iq> signal(std::size_t count) {
    AlignedVector<Iq> x(count);
    for (std::size_t n = 0; n < count; ++n) x[n] = std::polar(0.5F, 0.37F * static_cast<float>(n % 1000));
    return x;
}

constexpr double kFloatsPerCycle = 16;

// `floats` that the kernel multiplies for a sample, or looks up, or stores where it does nothing else.
void count_samples(benchmark::State& state, double floats) {
    tidemill::bench::report_rate(state, 1e-6 * kSamples);
    tidemill::bench::report_cycles(state, kSamples, floats / kFloatsPerCycle);
}

void bench_convert(benchmark::State& state, SampleFormat format) {
    std::vector<std::byte> bytes(kSamples * bytes_per_sample(format), std::byte{3});
    AlignedVector<Iq> samples(kSamples);
    for (auto _ : state) benchmark::DoNotOptimize(convert_samples(format, bytes, samples));
    count_samples(state, 2);
}
BENCHMARK_CAPTURE(bench_convert, cf32, SampleFormat::cf32)->Name("kernel/convert_cf32");
BENCHMARK_CAPTURE(bench_convert, ci16, SampleFormat::ci16)->Name("kernel/convert_ci16");
BENCHMARK_CAPTURE(bench_convert, ci8, SampleFormat::ci8)->Name("kernel/convert_ci8");
BENCHMARK_CAPTURE(bench_convert, cu8, SampleFormat::cu8)->Name("kernel/convert_cu8");

void bench_rotate(benchmark::State& state) {
    const auto x = signal(kSamples);
    AlignedVector<Iq> y(kSamples);
    for (auto _ : state) {
        tidemill::dsp::rotate(x, {0.1, 0.01, 1.0}, y);
        benchmark::ClobberMemory();
    }
    count_samples(state, 2 * (2 + 4));
}
BENCHMARK(bench_rotate)->Name("kernel/rotate");

void bench_rotate_split(benchmark::State& state) {
    const auto x = signal(kSamples);
    AlignedVector<Iq> even(kSamples / 2), odd(kSamples / 2);
    for (auto _ : state) {
        rotate_split(x, {0.1, 0.01, 1.0}, even, odd);
        benchmark::ClobberMemory();
    }
    count_samples(state, 2 * (2 + 4));
}
BENCHMARK(bench_rotate_split)->Name("kernel/rotate_split");

void bench_iq_moments(benchmark::State& state) {
    const auto x = signal(kSamples);
    for (auto _ : state) benchmark::DoNotOptimize(iq_moments(x));
    count_samples(state, 5);
}
BENCHMARK(bench_iq_moments)->Name("kernel/iq_moments");

void bench_correct_iq(benchmark::State& state) {
    const auto x = signal(kSamples);
    AlignedVector<Iq> y(kSamples);
    for (auto _ : state) {
        correct_iq(x, {{0.1F, 0.2F}, {0.01F, 0.02F}}, y);
        benchmark::ClobberMemory();
    }
    count_samples(state, 2 * 2);
}
BENCHMARK(bench_correct_iq)->Name("kernel/correct_iq");

void bench_rotate_to_pairs(benchmark::State& state, auto x) {
    AlignedVector<std::int16_t> pairs(2 * kSamples);
    for (auto _ : state) {
        rotate_to_pairs(std::span(std::as_const(x)), {0.1, 0.01, 1000.0}, pairs);
        benchmark::ClobberMemory();
    }
    count_samples(state, 2 * (1 + 4));
}
BENCHMARK_CAPTURE(bench_rotate_to_pairs, floats, signal(kSamples))->Name("kernel/rotate_to_pairs");
BENCHMARK_CAPTURE(bench_rotate_to_pairs, bytes, AlignedVector<Ci8>(kSamples, Ci8{3, -4}))
    ->Name("kernel/rotate_to_pairs_ci8");

template <class Samples>
void bench_split_fir(benchmark::State& state, auto filter, const Samples& x, double floats_per_tap) {
    const auto taps = static_cast<std::size_t>(state.range(0));
    const std::vector<float> h(taps, 0.1F);
    AlignedVector<Iq> even(kSamples / 2), odd(kSamples / 2);
    for (auto _ : state) {
        filter(x, h, even, odd);
        benchmark::ClobberMemory();
    }
    count_samples(state, floats_per_tap * static_cast<double>(taps));
}
void bench_floats(benchmark::State& state) {
    const auto x = signal(kSamples);
    bench_split_fir(state, split_fir, SplitView{x, x}, 1.5);
}
void bench_shorts(benchmark::State& state) {
    const AlignedVector<std::int16_t> x(4 * kSamples, 1000);
    const bool has_dot_products = (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
    bench_split_fir(state, split_fir16, ShortPairs{x, 1e-3F}, has_dot_products ? 0.5 : 1);
}
BENCHMARK(bench_floats)->Name("kernel/split_fir")->ArgName("taps")->Arg(32)->Arg(64);
BENCHMARK(bench_shorts)->Name("kernel/split_fir16")->ArgName("taps")->Arg(32)->Arg(64);

void bench_polyphase(benchmark::State& state) {
    const PolyphaseBank bank(88, 190, [](double t) { return root_raised_cosine(t / 2.7, 0.2) / 2.7; });
    const auto x = signal(kSamples + 256);
    AlignedVector<Iq> y(static_cast<std::size_t>(kSamples / 1.35));
    for (auto _ : state) {
        bank.evaluate(x, 0.3, 1.35, y);
        benchmark::ClobberMemory();
    }
    count_samples(state, 2 * 88 / 1.35);
}
BENCHMARK(bench_polyphase)->Name("kernel/polyphase");

void bench_polyphase_pairs(benchmark::State& state) {
    const PolyphasePairs pairs(40, 214, 1.2, [](double t) { return root_raised_cosine(t / 2.4, 0.2) / 2.4; });
    const AlignedVector<std::int16_t> x(kSamples + 256, 1000);
    AlignedVector<Iq> even(static_cast<std::size_t>(kSamples / 2.4)), odd(even.size());
    for (auto _ : state) {
        pairs.evaluate({x, x}, 0.3, 2.4, 1e-3F, even, odd);
        benchmark::ClobberMemory();
    }
    // Numbers of 16 bits are multiplied twice as many at a time.
    count_samples(state, 2 * 40 / 1.2 / 2);
}
BENCHMARK(bench_polyphase_pairs)->Name("kernel/polyphase_pairs");

void bench_rotate_to_planes(benchmark::State& state) {
    const auto x = signal(kSamples);
    AlignedVector<std::int16_t> re(kSamples), im(kSamples);
    for (auto _ : state) {
        rotate_to_planes(x, {0.1, 0.01, 1000.0}, re, im);
        benchmark::ClobberMemory();
    }
    count_samples(state, 2 * (1 + 4));
}
BENCHMARK(bench_rotate_to_planes)->Name("kernel/rotate_to_planes");

void bench_strobe_interpolator(benchmark::State& state) {
    const SamplingInterpolator interpolator(0.2);
    const auto x = signal(kSamples / 2 + 64);
    AlignedVector<Iq> symbols(kSamples / 2);
    for (auto _ : state) {
        interpolator.read({x, x}, 8.3, 2.00001, kSamples / 2, symbols);
        benchmark::ClobberMemory();
    }
    count_samples(state, static_cast<double>(SamplingInterpolator::kTaps));
}
BENCHMARK(bench_strobe_interpolator)->Name("kernel/sampling_interpolator");

constexpr std::size_t kReach = 20;  // as a transmitter shapes its symbols

void bench_interpolator(benchmark::State& state, bool by_signs) {
    const Interpolator interpolator(kReach, 2, [](double t) { return root_raised_cosine(t, 0.2); });
    const AlignedVector<Iq> x = by_signs ? AlignedVector<Iq>(kSamples + interpolator.history(), Iq(1, -1))
                                         : signal(kSamples + interpolator.history());
    AlignedVector<Iq> y(2 * kSamples);
    for (auto _ : state) {
        interpolator.process(x, y);
        benchmark::ClobberMemory();
    }
    // By signs: 12 rows of 16 floats for each part of eight samples.
    count_samples(state, by_signs ? 12 * 16 * 2 / 8 : 2 * 2 * 2 * kReach);
}
BENCHMARK_CAPTURE(bench_interpolator, any, false)->Name("kernel/interpolator");
BENCHMARK_CAPTURE(bench_interpolator, by_signs, true)->Name("kernel/interpolator_by_signs");

void bench_sign_byte_interpolator(benchmark::State& state) {
    const Interpolator interpolator(kReach, 2, [](double t) { return root_raised_cosine(t, 0.2); });
    const SignByteInterpolator to_bytes(interpolator.taps(), 1, 0.25F, SampleFormat::ci8);
    const AlignedVector<Iq> x(kSamples + interpolator.history(), Iq(1, -1));
    std::vector<std::byte> y(4 * kSamples);
    std::uint64_t limited = 0;
    for (auto _ : state) {
        to_bytes.process(x, y, limited);
        benchmark::ClobberMemory();
    }
    // 14 rows of 32 numbers for each part of sixteen samples.
    count_samples(state, 14 * 32 * 2 / 16.0);
}
BENCHMARK(bench_sign_byte_interpolator)->Name("kernel/interpolator_by_signs_to_bytes");

void bench_quantizer(benchmark::State& state) {
    const auto x = signal(kSamples);
    std::vector<std::int8_t> y(2 * kSamples);
    for (auto _ : state) benchmark::DoNotOptimize(quantize(x, 0.25F, std::span(y)));
    count_samples(state, 2);
}
BENCHMARK(bench_quantizer)->Name("kernel/quantize_ci8");

void bench_lag_correlation(benchmark::State& state) {
    const auto x = signal(kSamples + 64);
    for (auto _ : state) benchmark::DoNotOptimize(lag_correlation(x, kSamples, {1, 2, 8}));
    count_samples(state, 2 + 8 * 4);
}
BENCHMARK(bench_lag_correlation)->Name("kernel/lag_correlation");

void bench_lag_correlation_ci8(benchmark::State& state) {
    const AlignedVector<Ci8> x(kSamples + 64, Ci8{3, -4});
    for (auto _ : state) benchmark::DoNotOptimize(lag_correlation(x, kSamples, {1, 2, 8}));
    count_samples(state, (2 + 8 * 4) / 2.0);
}
BENCHMARK(bench_lag_correlation_ci8)->Name("kernel/lag_correlation_ci8");

void bench_half_symbol_moments(benchmark::State& state) {
    const auto x = signal(kSamples / 2);
    for (auto _ : state) benchmark::DoNotOptimize(half_symbol_moments({x, x}));
    count_samples(state, 4);
}
BENCHMARK(bench_half_symbol_moments)->Name("kernel/half_symbol_moments");

}  // namespace
