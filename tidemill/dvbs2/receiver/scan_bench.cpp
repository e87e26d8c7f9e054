#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/dvbs2/receiver/band_survey.hpp"
#include "tidemill/dvbs2/receiver/testing/crowded_band.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr int kRounds = 3;

const bool kAsked = bench::ask({"scan",
                                "How long does it take to find 24 carriers from 33 kBd to 4 MBd in 10 s of "
                                "20 MS/s, and to hear what they "
                                "are, on two cores, and how much processor time?",
                                "s"});

struct Scanned {
    double wall_s = 0, cpu_s = 0;
    std::string faults{};
};

Scanned scan(const internal::CrowdedBand& band) {
    std::vector<SurveyedCarrier> heard;
    const bench::Stopwatch wall;
    const double cpu_s = bench::cpu_seconds([&] {
        const auto open = [&] { return std::make_unique<internal::RepeatedSource>(band.open()); };
        heard = survey_band(open, find_carriers(*open()), SurveyDepth::services, 2, [](auto) {});
    });
    return {wall.ns() / 1e9, cpu_s, band.faults_of(heard)};
}

// All rounds, for both of the questions.
const std::vector<Scanned>& rounds() {
    static const std::vector<Scanned> all = [] {
        const internal::CrowdedBand band;
        std::vector<Scanned> some;
        for (int round = 0; round < kRounds; ++round) some.push_back(scan(band));
        return some;
    }();
    return all;
}

void bench_scan(benchmark::State& state, double Scanned::*time, double target_s) {
    for (auto _ : state) {
        std::vector<double> seconds;
        for (const Scanned& round : rounds()) {
            if (!round.faults.empty()) return state.SkipWithError(round.faults.c_str());
            seconds.push_back(round.*time);
        }
        bench::report_runs(state, seconds);
        state.counters["target"] = target_s;
    }
}
BENCHMARK_CAPTURE(bench_scan, wall, &Scanned::wall_s, 5)
    ->Name("scan/24_carriers_on_two_cores")
    ->Apply(bench::once);
BENCHMARK_CAPTURE(bench_scan, cpu, &Scanned::cpu_s, 10)
    ->Name("scan/24_carriers_processor_time")
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2
