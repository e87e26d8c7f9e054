#include "tidemill/tuning/profile/calibration.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "tidemill/base/quantile.hpp"
#include "tidemill/machine/affinity.hpp"
#include "tidemill/machine/energy_watch.hpp"
#include "tidemill/machine/pu_set.hpp"
#include "tidemill/machine/start_thread.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/threads/real_threads.hpp"

namespace tidemill {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kHopBytes[] = {64, 4096, 16384, 65536, 262144};
constexpr double kLeastWorkUs = 20;  // so that neither stage's jitter is all that is seen

double rounded(double value, double per_unit) {
    return std::round(value * per_unit) / per_unit;
}

RunOptions for_seconds(double seconds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    return {.stop_when = [end] { return Clock::now() >= end; }};
}

void spin_us(double time_us) {
    const auto end = Clock::now() + std::chrono::duration<double, std::micro>(time_us);
    while (Clock::now() < end) RealThreads::relax();
}

/// Writes a frame, and reads it, each beside so much other work.
void build_pair(Graph& graph, std::size_t bytes) {
    const std::size_t words = bytes / sizeof(std::uint64_t);
    auto& writer = graph.add(task("write", out<std::uint64_t>("x", words), [](auto frame) {
        spin_us(kLeastWorkUs);
        std::ranges::fill(frame, std::uint64_t{1});
    }));
    auto& reader =
        graph.add(task("read", in<std::uint64_t>("x", words), [sum = std::uint64_t{0}](auto frame) mutable {
            spin_us(kLeastWorkUs);
            sum += std::accumulate(frame.begin(), frame.end(), sum);
        }));
    graph.bind(writer["x"], reader["x"]);
}

Schedule two_stages(const Topology& topology) {
    const auto node = [&](std::size_t core) {
        return NodeRange{NodeRange::Unit::kCore, topology.cores[core].number, topology.cores[core].number};
    };
    const std::string& kind = topology.kinds[topology.cores[0].kind].name;
    return {.stages = {{0, 1, 1, kind}, {1, 1, 1, kind}}, .resources = {{kind, {node(0), node(1)}}}};
}

// Time of the slower of two stages beyond its own work.
double hop_cost_us(const Topology& topology, std::size_t bytes, const CalibrationOptions& options) {
    Graph together;
    build_pair(together, bytes);
    Sequence sequence(together);
    Graph apart;
    build_pair(apart, bytes);
    Pipeline pipeline(apart, two_stages(topology), {.topology = &topology, .waiting = options.waiting});
    std::vector<double> costs_us;
    for (int round = 0; round < options.rounds; ++round) {
        std::vector<double> work_us;
        {
            const PinGuard pinned(topology.cores[0].pus);
            work_us = sequence.run(for_seconds(options.seconds)).unit_weights_us();
        }
        const double period_us = pipeline.run(for_seconds(options.seconds)).period_us();
        costs_us.push_back(std::max(0.0, period_us - std::ranges::max(work_us)));
    }
    return median(costs_us);
}

// A line through the costs by least squares; neither part is below 0.
void fit_hops(Calibration& result) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [bytes, cost_us] : result.hops) {
        const auto size = static_cast<double>(bytes);
        n += 1;
        x += size;
        y += cost_us;
        xx += size * size;
        xy += size * cost_us;
    }
    const double slope = std::max(0.0, (n * xy - x * y) / (n * xx - x * x));
    result.model.byte_us = rounded(slope, 1e6);
    result.model.hop_us = rounded(std::max(0.0, (y - slope * x) / n), 1e3);
}

void measure_hops(const Topology& topology, const CalibrationOptions& options, Calibration& result) {
    if (topology.cores.size() < 2) {
        result.not_measured.emplace_back("hop_us, byte_us: there is only one core");
        return;
    }
    for (const std::size_t bytes : kHopBytes) {
        if (options.progress) options.progress(fmt::format("a hop of {} bytes", bytes));
        result.hops.push_back({bytes, hop_cost_us(topology, bytes, options)});
    }
    fit_hops(result);
}

// Steps of arithmetic that depend on each other, so that only the clock and the neighbours matter.
std::uint64_t compute_for(double seconds) {
    constexpr int kSteps = 1000;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    std::uint64_t rounds = 0;
    volatile double result = 1;
    while (Clock::now() < end) {
        double value = result;
        for (int i = 0; i < kSteps; ++i) value = value * 0.999 + 0.5;
        result = value;
        ++rounds;
    }
    return rounds;
}

// Rounds that threads which are pinned so do on average, all at once.
double rounds_at(const std::vector<PuSet>& places, double seconds) {
    std::atomic<std::uint64_t> rounds{0};
    {
        std::vector<std::jthread> threads;
        for (const PuSet& place : places) {
            threads.push_back(start_thread([&] {
                pin_this_thread(place);
                rounds += compute_for(seconds);
            }));
        }
    }
    return static_cast<double>(rounds) / static_cast<double>(places.size());
}

// On the first `busy` cores of a kind.
double rounds_of(const Topology& topology, const CoreKind& kind, std::size_t busy, double seconds) {
    std::vector<PuSet> places;
    for (std::size_t i = 0; i < busy; ++i) places.push_back(topology.cores[kind.cores[i]].pus);
    return rounds_at(places, seconds);
}

std::vector<double> slowdowns_of(const Topology& topology, const CoreKind& kind,
                                 const CalibrationOptions& options) {
    std::vector<double> slowdowns{1};
    for (std::size_t busy = 2; busy <= kind.cores.size(); ++busy) {
        if (options.progress) options.progress(fmt::format("{} {} cores at once", busy, kind.name));
        std::vector<double> factors;
        for (int round = 0; round < options.rounds; ++round) {
            const double alone = rounds_of(topology, kind, 1, options.seconds);
            factors.push_back(alone / rounds_of(topology, kind, busy, options.seconds));
        }
        // Cores never get faster as more are busy, so what looks like that is noise.
        slowdowns.push_back(std::max(slowdowns.back(), rounded(median(factors), 100)));
    }
    return slowdowns;
}

// Slowdown on the first core of the kind that has two threads; nothing where none has.
std::optional<double> shared_slowdown_of(const Topology& topology, const CoreKind& kind,
                                         const CalibrationOptions& options) {
    const auto core = std::ranges::find_if(
        kind.cores, [&](std::size_t number) { return topology.cores[number].pus.size() > 1; });
    if (core == kind.cores.end()) return std::nullopt;
    if (options.progress) options.progress(fmt::format("two threads of a {} core", kind.name));
    const PuSet& pus = topology.cores[*core].pus;
    std::vector<double> factors;
    for (int round = 0; round < options.rounds; ++round) {
        const double alone = rounds_at({PuSet{pus[0]}}, options.seconds);
        factors.push_back(alone / rounds_at({PuSet{pus[0]}, PuSet{pus[1]}}, options.seconds));
    }
    return std::max(1.0, rounded(median(factors), 100));
}

void measure_siblings(const Topology& topology, const CalibrationOptions& options, Calibration& result) {
    for (std::size_t k = 0; k < topology.kinds.size(); ++k) {
        const CoreKind& kind = topology.kinds[k];
        result.model.kinds[k].shared_slowdown = shared_slowdown_of(topology, kind, options);
        if (!result.model.kinds[k].shared_slowdown)
            result.not_measured.push_back(
                fmt::format("shared_slowdown: {} cores have one thread each", kind.name));
    }
}

// Mean power while the first `busy` cores of a kind compute.
EnergyUse energy_of(const Topology& topology, const CoreKind& kind, std::size_t busy,
                    const CalibrationOptions& options) {
    const double seconds = options.seconds * options.rounds;
    EnergyWatch watch(options.energy_meter);
    if (busy == 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (busy > 0) rounds_of(topology, kind, busy, seconds);
    return watch.stop();
}

void measure_watts(const Topology& topology, const CalibrationOptions& options, Calibration& result) {
    const EnergyUse idle = energy_of(topology, topology.kinds[0], 0, options);
    for (std::size_t k = 0; k < topology.kinds.size() && idle.watts(); ++k) {
        const CoreKind& kind = topology.kinds[k];
        if (options.progress) options.progress(fmt::format("watts of {} cores", kind.name));
        const auto busy = energy_of(topology, kind, kind.cores.size(), options).watts();
        if (!busy) continue;
        const double idle_w = *idle.watts() / static_cast<double>(topology.cores.size());
        const double more_w = (*busy - *idle.watts()) / static_cast<double>(kind.cores.size());
        result.model.kinds[k].idle_w = rounded(idle_w, 1e3);
        result.model.kinds[k].busy_w = rounded(idle_w + std::max(0.0, more_w), 1e3);
    }
    if (!idle.watts()) result.not_measured.push_back("busy_w, idle_w: " + idle.not_measured);
}

}  // namespace

Calibration calibrate(const Topology& topology, const CalibrationOptions& options) {
    Calibration result;
    measure_hops(topology, options, result);
    for (const CoreKind& kind : topology.kinds) {
        result.model.kinds.push_back({.kind = kind.name, .slowdown = slowdowns_of(topology, kind, options)});
    }
    if (options.siblings) measure_siblings(topology, options, result);
    measure_watts(topology, options, result);
    return result;
}

}  // namespace tidemill
