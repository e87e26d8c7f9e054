#include "tidemill/tuning/profile/profiler.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "tidemill/machine/affinity.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"
#include "tidemill/tuning/profile/busy_weights.hpp"
#include "tidemill/tuning/profile/cut_bytes.hpp"
#include "tidemill/tuning/profile/platform_here.hpp"
#include "tidemill/tuning/profile/weight_log.hpp"

namespace tidemill {

namespace {

constexpr double kWarmUp = 0.2;    // of the time or the frames
constexpr double kBusyPart = 0.5;  // of the time, once more
constexpr double kMostSlowed = 2;

// Where other cores work, nothing is faster than alone, but for noise.
void take_over(const std::vector<double>& busy_us, Profile& profile) {
    for (std::size_t u = 0; u < busy_us.size(); ++u) {
        double& weight_us = profile.tasks[u].weight_us.front();
        weight_us = std::clamp(busy_us[u], weight_us, kMostSlowed * weight_us);
    }
    static_cast<Chain&>(profile) = rounded(profile);
}

std::function<bool()> over_after(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    return [end] { return std::chrono::steady_clock::now() >= end; };
}

}  // namespace

std::vector<const CoreKind*> Profiler::kinds() const {
    std::vector<const CoreKind*> kinds;
    for (const CoreKind& kind : topology_.kinds) {
        if (!options_.cores || options_.cores->count(kind.name) > 0) kinds.push_back(&kind);
    }
    return kinds;
}

Profiler::Profiled Profiler::profile(Graph& graph, const CoreKind& kind, const Output& output) {
    const PinGuard pinned(topology_.cores[kind.cores.front()].pus);
    if (pinned.error()) warn(kind, "not pinned, " + pinned.error()->reason);
    Sequence sequence(graph);
    const auto so_far = [&] { return output ? output() : 0; };
    const std::uint64_t first = so_far();
    WeightLog warming(sequence.structure());
    const RunReport warm = warm_up(sequence, output, warming);
    interruption_point();
    const std::uint64_t when_warm = so_far();
    WeightLog log(sequence.structure());
    const RunReport steady = go_on(sequence, output, log);
    interruption_point();
    const std::uint64_t last = so_far();
    if (output ? last > when_warm : steady.frames >= warm.frames) {
        add_weights(kind.name, sequence, steady, log);
        const int cores = profile_.cores.count(kind.name);
        const bool by_time = !options_.frames;
        if (by_time && profile_.kinds.size() == 1)
            take_over(busy_weights_us(graph, profile_, kind, cores, topology_, kBusyPart * options_.seconds),
                      profile_);
        return {steady.frames, last - when_warm};
    }
    warn(kind, "those of the warm-up, as the stream or the time is too short");
    add_weights(kind.name, sequence, warm, warming);
    return {warm.frames, when_warm - first};
}

void Profiler::warn(const CoreKind& kind, const std::string& what) {
    profile_.warnings.push_back(fmt::format("weights on {}: {}", kind.name, what));
}

RunReport Profiler::warm_up(Sequence& sequence, const Output& output, WeightLog& log) const {
    if (output)
        return sequence.run(
            {.stop_when = [&] { return output() > 0; }, .stop = interruption(), .observers = {&log}});
    if (!options_.frames)
        return sequence.run({.stop_when = over_after(kWarmUp * options_.seconds),
                             .stop = interruption(),
                             .observers = {&log}});
    const auto frames = static_cast<std::uint64_t>(kWarmUp * static_cast<double>(*options_.frames));
    return frames > 0 ? sequence.run({.frames = frames, .stop = interruption(), .observers = {&log}})
                      : RunReport();
}

RunReport Profiler::go_on(Sequence& sequence, const Output& output, WeightLog& log) const {
    if (options_.frames)
        return sequence.run({.frames = *options_.frames, .stop = interruption(), .observers = {&log}});
    const double seconds = (output ? 1 : 1 - kWarmUp) * options_.seconds;
    return sequence.run({.stop_when = over_after(seconds), .stop = interruption(), .observers = {&log}});
}

void Profiler::add_weights(const std::string& kind, const Sequence& sequence, const RunReport& report,
                           const WeightLog& log) {
    if (report.frames == 0) {
        throw ScheduleError(
            fmt::format("nothing to profile on {}: the source ended before its first frame", kind));
    }
    const int cores = (options_.cores ? *options_.cores : platform_of(topology_)).count(kind);
    add_kind(profile_, kind, cores, sequence.graph(), sequence.structure(), report, log.weights());
}

void add_kind(Profile& profile, const std::string& kind, int cores, const Graph& graph,
              const Structure& structure, const RunReport& report, const std::vector<UnitWeight>& weights) {
    if (profile.kinds.empty()) {
        const std::vector<double> bytes = cut_bytes(graph, structure, report);
        for (std::size_t u = 0; u < report.units.size(); ++u) {
            const UnitReport& unit = report.units[u];
            profile.tasks.push_back({unit.name, unit.replicable, {}, bytes[u], unit.lacks_word});
        }
    }
    profile.cores.set(kind, cores);
    profile.kinds.push_back(kind);
    profile.measured_by = fmt::format("tidemill, {} source frames", report.frames);
    for (std::size_t u = 0; u < weights.size(); ++u) {
        profile.tasks[u].weight_us.push_back(weights[u].weight_us);
        profile.tasks[u].spread.push_back({weights[u].error_us, weights[u].p99_us, weights[u].once_us});
    }
    static_cast<Chain&>(profile) = rounded(profile);
}

Profile profile(Graph& graph, const Topology& topology, const ProfileOptions& options) {
    Profiler profiler(topology, options);
    for (const CoreKind* const kind : profiler.kinds()) profiler.profile(graph, *kind);
    return profiler.profile();
}

Profile profile(Graph& graph, const ProfileOptions& options) {
    return profile(graph, Topology::here(), options);
}

}  // namespace tidemill
