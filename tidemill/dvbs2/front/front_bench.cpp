#include <random>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/front/coarse_frequency.hpp"
#include "tidemill/dvbs2/front/front_filter.hpp"
#include "tidemill/dvbs2/front/front_strobes.hpp"
#include "tidemill/dvbs2/front/symbol_timing.hpp"
#include "tidemill/dvbs2/front/testing/front_signal.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

const bool kAsked =
    bench::ask({"front",
                "How many million symbols a second does each stage of the front take on one core, "
                "and all of them together, once they are locked?",
                "Msymbols/s"}) &&
    bench::ask({"front/no_clock",
                "How many million symbols a second does the search for a clock take on one core, live, where "
                "there is none to be found?",
                "Msymbols/s"});

struct Locked {
    explicit Locked(double sps) : geometry({sps, 1.0, 0.2, kMaxBlockSamples}), filter(geometry), tracker{} {
        SignalSpec spec{.symbols = 80000, .sps = sps, .cfo = 0.01, .ppm = 20.0, .esn0_db = 7.5};
        samples = make_signal(spec).samples;
        window.assign(samples.begin() + 50000,
                      samples.begin() + 50000 + geometry.history_samples() + geometry.block_samples());
        oscillator = {
            .block = 3, .phase_cycles = 0.2, .frequency = -0.005, .gain = 2.0, .previous_frequency = -0.005};
        filter.process(window, geometry.block_samples(), oscillator, filtered);
        symbols_per_block = geometry.block_samples() / sps;
    }

    FrontGeometry geometry;
    FrontFilter filter;
    SymbolTimingLoop tracker;
    std::vector<Iq> samples;
    dsp::AlignedVector<Iq> window;
    BlockOscillator oscillator;
    FilteredBlock filtered;
    double symbols_per_block;
};

void bench_spectrum(benchmark::State& state) {
    const Locked locked(2.0);
    for (auto _ : state)
        benchmark::DoNotOptimize(measure_spectrum(locked.geometry, 3, locked.window, kFollowedChunks));
    bench::report_rate(state, 1e-6 * locked.symbols_per_block);
}
BENCHMARK(bench_spectrum)->Name("front/spectrum");

void bench_filter(benchmark::State& state) {
    Locked locked(static_cast<double>(state.range(0)) / 10.0);
    for (auto _ : state) {
        locked.filter.process(locked.window, locked.geometry.block_samples(), locked.oscillator,
                              locked.filtered);
        benchmark::ClobberMemory();
    }
    bench::report_rate(state, 1e-6 * locked.symbols_per_block);
}
BENCHMARK(bench_filter)
    ->Name("front/filter")
    ->ArgName("tenths_of_samples_a_symbol")
    ->Arg(20)
    ->Arg(27)
    ->Arg(40);

void bench_strobes(benchmark::State& state) {
    Locked locked(2.0);
    const dsp::SamplingInterpolator interpolator(0.2);
    StrobePlan plan{.block = 3, .runs = locked.filtered.info.subblocks};
    for (std::uint32_t r = 0; r < plan.runs; ++r) plan.run[r] = {8.4 + r * 1024.0, 2.00001, 512};
    SymbolBlock symbols;
    for (auto _ : state) {
        read_symbols(interpolator, locked.filtered, plan, symbols);
        benchmark::ClobberMemory();
    }
    bench::report_rate(state, 1e-6 * locked.symbols_per_block);
}
BENCHMARK(bench_strobes)->Name("front/sampling_instants");

void bench_trackers(benchmark::State& state) {
    Locked locked(2.0);
    CoarseFrequencyEstimator coarse(locked.geometry);
    BlockSpectrum spectrum = measure_spectrum(locked.geometry, 3, locked.window, 1);
    for (spectrum.block = 0; !coarse.found(); ++spectrum.block) coarse.step(spectrum);
    for (auto _ : state) {
        benchmark::DoNotOptimize(coarse.step(spectrum));
        benchmark::DoNotOptimize(coarse.next());
        ++spectrum.block;
    }
    bench::report_rate(state, 1e-6 * locked.symbols_per_block);
}
BENCHMARK(bench_trackers)->Name("front/trackers");

// Where a signal is seen, but no clock in it, as in a stretch that has gaps. What comes live waits meanwhile.
void bench_no_clock(benchmark::State& state) {
    Locked locked(2.0);
    SymbolTimingLoop tracker(true);
    FilteredInfo info{.subblocks = static_cast<std::uint32_t>(locked.symbols_per_block) / kSubblockSymbols,
                      .restart = true};
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.1F);
    for (auto _ : state) {
        for (SubblockTiming& timing : std::span(info.timing).first(info.subblocks))
            timing = {Iq(normal(random), normal(random)), 1};
        benchmark::DoNotOptimize(tracker.step(info));
        info = {.block = info.block + 1,
                .first_subblock = info.first_subblock + info.subblocks,
                .subblocks = info.subblocks};
    }
    bench::report_rate(state, 1e-6 * locked.symbols_per_block);
}
BENCHMARK(bench_no_clock)->Name("front/no_clock");

}  // namespace
}  // namespace tidemill::dvbs2
