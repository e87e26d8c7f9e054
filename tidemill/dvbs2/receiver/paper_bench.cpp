#include <array>
#include <iterator>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/receiver/testing/timed_reception.hpp"
#include "tidemill/testing/bench.hpp"

// Tables 3, 4 and 5 of the paper on the DSEL StreamPU for software-defined radio (Cassagne et al., section
// 5): Mb/s of information on one core of a Xeon Platinum 8168, and of gr-dvbs2rx on the same.
namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr int kRuns = 5;

const bool kAsked =
    bench::ask({"paper/table3",
                "How many Mb/s of information does each stage of the paper's decomposition take in order on "
                "one core?",
                "Mb/s",
                {},
                "StreamPU, one core of a Xeon Platinum 8168"}) &&
    bench::ask(
        {"paper/table4_one_core",
         "How many Mb/s of information does the receiver give in order on one core, per configuration?",
         "Mb/s",
         {},
         "StreamPU, one core of a Xeon Platinum 8168"}) &&
    bench::ask(
        {"paper/table4_parallel",
         "The same in parallel: ours on two cores, theirs with 35 threads on 48. A frame's latency beside.",
         "Mb/s",
         {},
         "StreamPU, 35 cores of two Xeon Platinum 8168"}) &&
    bench::ask(
        {"paper/table5",
         "How many Mb/s of information do the parts of the receiver take that blocks of gr-dvbs2rx are for?",
         "Mb/s",
         {},
         "StreamPU, one core of a Xeon Platinum 8168"});

constexpr TimedSignal kModcod2{{10, FrameSize::short_, true}};

/// Part of the paper's receiver, and our tasks that do the same.
struct Part {
    const char* name;
    std::vector<const char*> tasks;
    double published;
    double gr_dvbs2rx = 0;
};

// Rates one after the other: in stages that ours cannot part.
double in_turn(double a, double b) {
    return 1 / (1 / a + 1 / b);
}

const std::vector<Part>& table3() {
    static const std::vector<Part> kParts{
        {"1 radio", {"source.read"}, 431.83},
        {"2 AGC, coarse frequency, matched filter",
         {"spectrum.measure", "coarse.follow", "filter.filter"},
         80.00},
        {"3 timing, extract", {"timing.track"}, in_turn(55.42, 281.83)},
        {"4 AGC, frame", {"frame_sync.cut"}, in_turn(685.51, 159.41)},
        {"5 and 6 descramble, fine frequency, framer, noise",
         {"equaliser.learn", "carrier.remove"},
         in_turn(97.27, 355.94)},
        {"7 demodulate, LDPC, BCH, descramble",
         {"demapper.demap", "ldpc.decode", "bch.decode", "bb_descrambler.descramble"},
         5.35},
        {"8 sink", {"sink.write"}, 1838.31},
        {"total",
         {"source.read", "spectrum.measure", "coarse.follow", "filter.filter", "timing.track",
          "frame_sync.cut", "equaliser.learn", "carrier.remove", "demapper.demap", "ldpc.decode",
          "bch.decode", "bb_descrambler.descramble", "sink.write"},
         4.09}};
    return kParts;
}

const std::vector<Part>& table5() {
    static const std::vector<Part> kParts{
        {"file source", {"source.read"}, 431.8, 100.7},
        {"AGC, symbol sync",
         {"spectrum.measure", "coarse.follow", "filter.filter", "timing.track"},
         in_turn(367.5, 33.1),
         in_turn(24.0, 16.9)},
        {"rotator, PL sync",
         {"frame_sync.cut", "equaliser.learn", "carrier.remove"},
         in_turn(685.5, 48.4),
         in_turn(96.1, 45.3)},
        {"demapper, LDPC", {"demapper.demap", "ldpc.decode"}, 31.7, 23.0},
        {"BCH", {"bch.decode"}, 6.9, 14.9},
        {"BB descrambler", {"bb_descrambler.descramble"}, 91.1, 225.8},
        {"BB deheader (theirs none), sink", {"sink.write"}, 1838.3, in_turn(252.5, 346.5)}};
    return kParts;
}

// Receptions in order, the same for both tables.
const std::vector<TimedReception>& receptions() {
    static const auto kReceptions = [] {
        std::vector<TimedReception> runs;
        for (int run = 0; run < kRuns; ++run) runs.push_back(receive_timed(recording_of(kModcod2)));
        return runs;
    }();
    return kReceptions;
}

double rate_of(const Part& part, const TimedReception& reception) {
    double us = 0;
    for (const char* task : part.tasks) us += reception.task_us(task);
    return static_cast<double>(reception.totals.info_bits) / us;
}

void part_rate(benchmark::State& state, const std::vector<Part>& parts) {
    const Part& part = parts[static_cast<std::size_t>(state.range(0))];
    std::vector<double> rates;
    for (auto _ : state) {
        for (const TimedReception& reception : receptions()) rates.push_back(rate_of(part, reception));
    }
    if (!receptions().front().complete(kModcod2)) return state.SkipWithError("frames are missing or bad");
    state.SetLabel(part.name);
    bench::report_runs(state, rates);
    state.counters["published"] = part.published;
    if (part.gr_dvbs2rx > 0) state.counters["gr_dvbs2rx_on_that_core"] = part.gr_dvbs2rx;
}
void table3_part(benchmark::State& state) {
    part_rate(state, table3());
}
void table5_part(benchmark::State& state) {
    part_rate(state, table5());
}
BENCHMARK(table3_part)->Name("paper/table3")->DenseRange(0, 7)->Apply(bench::once);
BENCHMARK(table5_part)->Name("paper/table5")->DenseRange(0, 6)->Apply(bench::once);

struct Configuration {
    const char* name;
    TimedSignal signal;
    double in_order;
    double parallel;
    double latency_ms;  // 0: not published for this kind of processor
};
constexpr Configuration kConfigurations[] = {
    {"1: QPSK 3/5 short", {{5, FrameSize::short_, true}, 10}, 3.4, 37, 0},
    {"2: QPSK 8/9 short", kModcod2, 4.1, 55, 56},
    {"3: 8PSK 8/9 short", {{16, FrameSize::short_, true}, 14}, 4.0, 80, 0}};

void configuration(benchmark::State& state, bool parallel) {
    const Configuration& chosen = kConfigurations[state.range(0)];
    const auto& recording = recording_of(chosen.signal);
    std::optional<Schedule> schedule;
    if (parallel) schedule = schedule_found(recording, 2);
    std::vector<double> rates, latencies;
    for (auto _ : state) {
        for (int run = 0; run < kRuns; ++run) {
            const TimedReception reception = receive_timed(recording, schedule ? &*schedule : nullptr);
            if (!reception.complete(chosen.signal)) return state.SkipWithError("frames are missing or bad");
            rates.push_back(reception.totals.info_mbps());
            latencies.push_back(reception.run.latency.mean_us);
        }
    }
    state.SetLabel(chosen.name);
    bench::report_runs(state, rates);
    state.counters["published"] = parallel ? chosen.parallel : chosen.in_order;
    state.counters["latency_ms"] = 1e-3 * median(latencies);
    if (parallel && chosen.latency_ms > 0) state.counters["their_latency_ms"] = chosen.latency_ms;
}
BENCHMARK_CAPTURE(configuration, one_core, false)
    ->Name("paper/table4_one_core")
    ->DenseRange(0, 2)
    ->Apply(bench::once);
BENCHMARK_CAPTURE(configuration, parallel, true)
    ->Name("paper/table4_parallel")
    ->DenseRange(0, 2)
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2
