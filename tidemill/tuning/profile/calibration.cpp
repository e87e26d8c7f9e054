#include "tidemill/tuning/profile/calibration.hpp"

#include <algorithm>
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
#include "tidemill/tuning/profile/undisturbed.hpp"

namespace tidemill {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kHopBytes[] = {64, 4096, 16384, 65536, 262144};
constexpr double kLeastWorkUs = 20;         // so that neither stage's jitter is all that is seen
constexpr std::size_t kWindowFrames = 32;   // more than are in flight
constexpr double kRepeats = 0.2;            // of a hop's cost, that a quarter of the windows may differ by
constexpr double kLeastRepeatsUs = 0.25;    // little beside the work of a stage
constexpr double kLeastHopSeconds = 0.005;  // a few windows
constexpr const char* kDisturbed =
    "other programs disturb the measurement; end them, or measure longer with --seconds";

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

/// A writer of frames and a reader, each beside so much other work, and when they were done with each frame.
class HopPair {
  public:
    HopPair(std::size_t bytes, double most_seconds) {
        const auto most_frames = static_cast<std::size_t>(1e6 * most_seconds / kLeastWorkUs);
        for (std::vector<Clock::time_point>* ends : {&written_, &read_}) ends->reserve(most_frames);
        const std::size_t words = bytes / sizeof(std::uint64_t);
        auto& writer = graph_.add(task("write", out<std::uint64_t>("x", words), [this](auto frame) {
            spin_us(kLeastWorkUs);
            std::ranges::fill(frame, std::uint64_t{1});
            note(written_);
        }));
        auto& reader = graph_.add(
            task("read", in<std::uint64_t>("x", words), [this, sum = std::uint64_t{0}](auto frame) mutable {
                spin_us(kLeastWorkUs);
                sum += std::accumulate(frame.begin(), frame.end(), sum);
                note(read_);
            }));
        graph_.bind(writer["x"], reader["x"]);
    }

    Graph& graph() { return graph_; }

    /// Time of a frame since the last call, in us: that of each window in which nothing else had its cores,
    /// from one frame that was read to the next.
    std::vector<double> periods_us() {
        return windows_us([](double both_us, double) { return both_us; });
    }

    /// The same where both ran in order on one core: the time of the slower of the two.
    std::vector<double> works_us() {
        return windows_us(
            [](double both_us, double read_us) { return std::max(read_us, both_us - read_us); });
    }

  private:
    static double us_between(Clock::time_point from, Clock::time_point to) {
        return std::chrono::duration<double, std::micro>(to - from).count();
    }

    // No memory is asked for while time is measured.
    static void note(std::vector<Clock::time_point>& ends) {
        if (ends.size() < ends.capacity()) ends.push_back(Clock::now());
    }

    // A thread that another program has replaced for a while shows it by one frame that takes much longer.
    // Behind that, frames stand in a queue, so the next window does not count either.
    template <class Time>
    std::vector<double> windows_us(const Time& time) {
        constexpr double kLonger = 1.5;
        std::vector<double> windows;
        bool was_clean = false;  // nor the first, before caches are filled
        for (std::size_t i = 0; i + kWindowFrames < read_.size(); i += kWindowFrames) {
            const double both_us = us_between(read_[i], read_[i + kWindowFrames]) / kWindowFrames;
            double read_us = 0, longest_us = 0;
            for (std::size_t frame = i + 1; frame <= i + kWindowFrames; ++frame) {
                longest_us = std::max(longest_us, us_between(read_[frame - 1], read_[frame]));
                read_us += us_between(written_[frame], read_[frame]) / kWindowFrames;
            }
            const bool is_clean = longest_us < kLonger * both_us;
            if (is_clean && was_clean) windows.push_back(time(both_us, read_us));
            was_clean = is_clean;
        }
        written_.clear();
        read_.clear();
        return windows;
    }

    Graph graph_;
    std::vector<Clock::time_point> written_, read_;
};

Schedule two_stages(const Topology& topology) {
    const auto node = [&](std::size_t core) {
        return NodeRange{NodeRange::Unit::kCore, topology.cores[core].number, topology.cores[core].number};
    };
    const std::string& kind = topology.kinds[topology.cores[0].kind].name;
    return {.stages = {{0, 1, 1, kind}, {1, 1, 1, kind}}, .resources = {{kind, {node(0), node(1)}}}};
}

// Time of the slower of two stages beyond its own work, in the middle of the rounds in which enough was
// undisturbed to know it.
HopMeasurement hop_of(const std::vector<double>& rounds_us, std::size_t bytes, int rounds) {
    if (rounds_us.empty()) return {.bytes = bytes, .is_disturbed = true};
    HopMeasurement hop{bytes, std::max(0.0, median(rounds_us)), quantile(rounds_us, 0.25),
                       quantile(rounds_us, 0.75)};
    hop.is_disturbed =
        2 * std::ssize(rounds_us) < rounds ||
        hop.upper_quartile_us - hop.lower_quartile_us > std::max(kLeastRepeatsUs, kRepeats * hop.cost_us);
    return hop;
}

HopMeasurement measure_hop(const Topology& topology, std::size_t bytes, const CalibrationOptions& options) {
    const double seconds = std::max(options.seconds, kLeastHopSeconds);
    HopPair together(bytes, seconds);
    Sequence sequence(together.graph());
    HopPair apart(bytes, seconds);
    Pipeline pipeline(apart.graph(), two_stages(topology),
                      {.topology = &topology, .waiting = options.waiting});
    std::vector<double> rounds_us;
    for (int round = 0; round < options.rounds; ++round) {
        {
            const PinGuard pinned(topology.cores[0].pus);
            sequence.run(for_seconds(seconds));
        }
        pipeline.run(for_seconds(seconds));
        const std::vector<double> works_us = together.works_us(), periods_us = apart.periods_us();
        if (!works_us.empty() && !periods_us.empty())
            rounds_us.push_back(median(periods_us) - median(works_us));
    }
    return hop_of(rounds_us, bytes, options.rounds);
}

// A line through the costs by least squares; neither part is below 0.
void fit_hops(Calibration& result) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const HopMeasurement& hop : result.hops) {
        const auto size = static_cast<double>(hop.bytes);
        n += 1;
        x += size;
        y += hop.cost_us;
        xx += size * size;
        xy += size * hop.cost_us;
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
        result.hops.push_back(measure_hop(topology, bytes, options));
    }
    if (std::ranges::none_of(result.hops, &HopMeasurement::is_disturbed)) return fit_hops(result);
    result.is_disturbed = true;
    result.not_measured.push_back(fmt::format("hop_us, byte_us: {}", kDisturbed));
}

// Times in us of windows of arithmetic whose steps depend on each other, so that only the clock and the
// neighbours matter.
std::vector<double> compute_for(double seconds) {
    constexpr int kSteps = 100'000;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    std::vector<double> windows_us;
    volatile double result = 1;
    for (auto begin = Clock::now(); begin < end || windows_us.empty();) {
        double value = result;
        for (int i = 0; i < kSteps; ++i) value = value * 0.999 + 0.5;
        result = value;
        const auto now = Clock::now();
        windows_us.push_back(std::chrono::duration<double, std::micro>(now - begin).count());
        begin = now;
    }
    return windows_us;
}

/// Windows of the threads that compute at once.
using ThreadWindows = std::vector<std::vector<double>>;

// Threads that are pinned so compute, all at once.
void compute_at(const std::vector<PuSet>& places, double seconds, ThreadWindows& windows_us) {
    windows_us.resize(places.size());
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < places.size(); ++thread) {
        threads.push_back(start_thread([&, thread] {
            pin_this_thread(places[thread]);
            const std::vector<double> more_us = compute_for(seconds);
            windows_us[thread].insert(windows_us[thread].end(), more_us.begin(), more_us.end());
        }));
    }
}

/// How many times longer computing takes on some places at once than on the first of them alone; nothing
/// where other programs disturb that.
std::optional<double> slowdown_at(const std::vector<PuSet>& places, const CalibrationOptions& options) {
    constexpr double kSteady = 0.05;
    ThreadWindows alone_us, at_once_us;
    for (int round = 0; round < options.rounds; ++round) {
        compute_at({places.front()}, options.seconds, alone_us);
        compute_at(places, options.seconds, at_once_us);
    }
    const Undisturbed alone = undisturbed(alone_us.front());
    bool is_steady = alone.is_repeated_within(kSteady * alone.us);
    double sum_us = 0;
    for (const std::vector<double>& windows_us : at_once_us) {
        const Undisturbed each = undisturbed(windows_us);
        is_steady = is_steady && each.is_repeated_within(kSteady * each.us);
        sum_us += each.us;
    }
    if (!is_steady) return std::nullopt;
    return sum_us / static_cast<double>(places.size()) / alone.us;
}

std::vector<PuSet> first_cores(const Topology& topology, const CoreKind& kind, std::size_t busy) {
    std::vector<PuSet> places;
    for (std::size_t i = 0; i < busy; ++i) places.push_back(topology.cores[kind.cores[i]].pus);
    return places;
}

void stays_out(Calibration& result, const char* number, const CoreKind& kind) {
    result.is_disturbed = true;
    result.not_measured.push_back(fmt::format("{} of {} cores: {}", number, kind.name, kDisturbed));
}

std::vector<double> slowdowns_of(const Topology& topology, const CoreKind& kind,
                                 const CalibrationOptions& options, Calibration& result) {
    std::vector<double> slowdowns{1};
    for (std::size_t busy = 2; busy <= kind.cores.size(); ++busy) {
        if (options.progress) options.progress(fmt::format("{} {} cores at once", busy, kind.name));
        const auto factor = slowdown_at(first_cores(topology, kind, busy), options);
        if (!factor) {
            stays_out(result, "slowdown", kind);
            return {1};
        }
        // Cores never get faster as more are busy, so what looks like that is noise.
        slowdowns.push_back(std::max(slowdowns.back(), rounded(*factor, 100)));
    }
    return slowdowns;
}

// The threads of the first core of the kind that has two; nothing where none has.
std::vector<PuSet> siblings_of(const Topology& topology, const CoreKind& kind) {
    const auto core = std::ranges::find_if(
        kind.cores, [&](std::size_t number) { return topology.cores[number].pus.size() > 1; });
    if (core == kind.cores.end()) return {};
    const PuSet& pus = topology.cores[*core].pus;
    return {PuSet{pus[0]}, PuSet{pus[1]}};
}

void measure_siblings(const Topology& topology, const CalibrationOptions& options, Calibration& result) {
    for (std::size_t k = 0; k < topology.kinds.size(); ++k) {
        const CoreKind& kind = topology.kinds[k];
        const std::vector<PuSet> siblings = siblings_of(topology, kind);
        if (siblings.empty()) {
            result.not_measured.push_back(
                fmt::format("shared_slowdown: {} cores have one thread each", kind.name));
            continue;
        }
        if (options.progress) options.progress(fmt::format("two threads of a {} core", kind.name));
        if (const auto factor = slowdown_at(siblings, options))
            result.model.kinds[k].shared_slowdown = std::max(1.0, rounded(*factor, 100));
        else
            stays_out(result, "shared_slowdown", kind);
    }
}

// Mean power while the first `busy` cores of a kind compute.
EnergyUse energy_of(const Topology& topology, const CoreKind& kind, std::size_t busy,
                    const CalibrationOptions& options) {
    const double seconds = options.seconds * options.rounds;
    EnergyWatch watch(options.energy_meter);
    if (busy == 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    ThreadWindows windows_us;
    if (busy > 0) compute_at(first_cores(topology, kind, busy), seconds, windows_us);
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
        result.model.kinds.push_back(
            {.kind = kind.name, .slowdown = slowdowns_of(topology, kind, options, result)});
    }
    if (options.siblings) measure_siblings(topology, options, result);
    measure_watts(topology, options, result);
    return result;
}

}  // namespace tidemill
