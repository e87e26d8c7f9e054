#include <algorithm>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tidemill/dvbs2/receiver/band_receiver.hpp"
#include "tidemill/dvbs2/receiver/band_survey.hpp"
#include "tidemill/dvbs2/receiver/testing/repeated_source.hpp"
#include "tidemill/dvbs2/receiver/testing/wide_band.hpp"
#include "tidemill/dvbs2/search/tuning_plan.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/testing/bench.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr double kBandHz = 10e6, kMadeSeconds = 2;
constexpr int kTimes = 5;

const bool kAsked = bench::ask(
    {"carriers/tuner",
     "How much processor time do receivers of several carriers in 10 s of 10 MS/s take together, the search "
     "for them included, QPSK 2/3, short frames with pilots, 10 dB?",
     "s", "each for itself, at a known place"});

internal::RepeatedSource recording(std::span<const std::byte> bytes) {
    return {bytes, kBandHz, kTimes};
}

/// Packets of a carrier: their number, and a checksum.
struct Heard {
    std::uint64_t bytes = 0, digest = 0;

    void add(std::span<const std::uint8_t> packets) {
        bytes += packets.size();
        for (std::size_t n = 0; n < packets.size(); n += 47) digest = digest * 31 + packets[n];
    }
    bool operator==(const Heard&) const = default;
};

RxOutputs to(Heard& heard) {
    return {.streams = {.packets = [&heard](auto packets, auto) { heard.add(packets); }}};
}

// The program rounds what the search found, too.
Tuning tuning_at(io::SampleSource&& look, double symbol_rate_hz, double offset_hz) {
    return plan_tuning(look, {.symbol_rate_hz = symbol_rate_hz, .offset_hz = offset_hz}).tuning.value();
}

Heard receive_one(std::span<const std::byte> bytes, double symbol_rate_hz, double offset_hz) {
    const Tuning tuning = tuning_at(recording(bytes), symbol_rate_hz, offset_hz);
    TunedSource source(std::make_unique<internal::RepeatedSource>(recording(bytes)), tuning);
    Heard heard;
    Receiver receiver(source, {.symbol_rate_hz = symbol_rate_hz, .tuned_hz = tuning.offset_hz}, to(heard));
    Sequence(receiver.graph()).run({.statistics = false});
    return heard;
}

std::vector<Heard> receive_all(std::span<const std::byte> bytes, double symbol_rate_hz) {
    const auto open = [bytes] { return std::make_unique<internal::RepeatedSource>(recording(bytes)); };
    const auto found = find_carriers(*open()).carriers;
    const auto surveyed = survey_all(open, found, SurveyDepth::frames, 1, [](auto) {});
    std::vector<Heard> heard(surveyed.size());
    std::vector<CarrierOfBand> carriers;
    for (std::size_t k = 0; k < surveyed.size(); ++k) {
        if (surveyed[k].kind != CarrierKind::dvbs2) continue;
        carriers.push_back({.name = fmt::format("c{}", k),
                            .tuning = tuning_at(recording(bytes), symbol_rate_hz, surveyed[k].offset_hz),
                            .outputs = to(heard[k])});
    }
    internal::RepeatedSource source = recording(bytes);
    BandReceiver receiver(source, std::move(carriers));
    Sequence(receiver.graph()).run({.statistics = false});
    return heard;
}

void bench_carriers(benchmark::State& state, int count, double symbol_rate_hz, double target) {
    constexpr int kRounds = 3;
    const double spacing_hz = 0.95 * kBandHz / count;
    std::vector<internal::BandCarrier> carriers;
    for (int k = 0; k < count; ++k)
        carriers.push_back(
            {.symbol_rate_hz = symbol_rate_hz, .offset_hz = (k - (count - 1) / 2.0) * spacing_hz});
    const auto bytes = internal::as_ci16(
        internal::make_band({.sample_rate_hz = kBandHz, .seconds = kMadeSeconds}, carriers).samples);
    bench::Ratio ratio;
    for (auto _ : state) {
        for (int round = 0; round < kRounds; ++round) {
            std::vector<Heard> together, each;
            const double together_s =
                bench::cpu_seconds([&] { together = receive_all(bytes, symbol_rate_hz); });
            const double each_s = bench::cpu_seconds([&] {
                for (const auto& carrier : carriers)
                    each.push_back(receive_one(bytes, symbol_rate_hz, carrier.offset_hz));
            });
            if (std::ranges::any_of(each, [](const Heard& heard) { return heard.bytes == 0; }))
                return state.SkipWithError("a carrier brought no packets");
            if (together != each) return state.SkipWithError("not the same packets");
            ratio.add(together_s, each_s);
        }
    }
    ratio.report(state, {.target = target * ratio.baseline()});
}
BENCHMARK_CAPTURE(bench_carriers, 4, 4, 1e6, 0.65)->Name("carriers/tuner/4_of_1_MBd")->Apply(bench::once);
BENCHMARK_CAPTURE(bench_carriers, 12, 12, 500e3, 0.45)
    ->Name("carriers/tuner/12_of_500_kBd")
    ->Apply(bench::once);

}  // namespace
}  // namespace tidemill::dvbs2
