#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/carrier/demapper.hpp"
#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

const bool kAsked =
    bench::ask({"demapper",
                "How many million symbols a second does one core turn into soft bits, and in how many "
                "cycles? Beside them "
                "those that its arithmetic takes at sixteen floats a cycle.",
                "Msymbols/s"});

// A product for each axis of QPSK; else two for each point, and for each bit three sums of likelihoods of
// each pair left, of six instructions each.
double least_cycles(const Modcod& modcod) {
    const double points = 1 << bits_per_symbol(modcod.modulation);
    return (modcod.modulation == Modulation::qpsk ? 2 : 2 * points + 18 * (points - 1)) / 16;
}

void soft_bits(benchmark::State& state, int number) {
    const Modcod& modcod = *find_modcod(number);
    std::mt19937 random(1);
    const auto frame = internal::make_frame({number, FrameSize::normal, false}, PlScrambler(0), random);
    const auto data = internal::map_bits(modcod, frame.bits);
    std::vector<fec::Llr> llrs(frame.bits.size());
    for (auto _ : state) {
        demap(data, modcod, {1.0F, 0.1F}, 3.0F, llrs);
        benchmark::DoNotOptimize(llrs.data());
        benchmark::ClobberMemory();
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < llrs.size(); ++i) {
        wrong += (llrs[i] < 0) == (frame.bits[i] == 1) ? 0 : 1;
    }
    if (wrong > 0) {
        state.SkipWithError("wrong bits");
    }
    bench::report_rate(state, 1e-6 * static_cast<double>(data.size()));
    bench::report_cycles(state, static_cast<double>(data.size()), least_cycles(modcod));
}
BENCHMARK_CAPTURE(soft_bits, qpsk, 7)->Name("demapper/qpsk");
BENCHMARK_CAPTURE(soft_bits, psk8, 13)->Name("demapper/psk8");
BENCHMARK_CAPTURE(soft_bits, apsk16, 19)->Name("demapper/apsk16");
BENCHMARK_CAPTURE(soft_bits, apsk32, 25)->Name("demapper/apsk32");

}  // namespace
}  // namespace tidemill::dvbs2
