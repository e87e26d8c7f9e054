#include "tidemill/run/profile/profiler.hpp"

#include <chrono>

#include <fmt/format.h>

#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/job/platform_here.hpp"
#include "tidemill/run/profile/cut_bytes.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill {

namespace {

constexpr double kWarmUp = 0.2;  // of the time or the frames

std::function<bool()> over_after(double seconds) {
    using Clock = std::chrono::steady_clock;
    return [end = Clock::now() + std::chrono::duration<double>(seconds)] { return Clock::now() >= end; };
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
    const RunReport warm = warm_up(sequence, output);
    const std::uint64_t when_warm = so_far();
    const RunReport steady = go_on(sequence, output);
    const std::uint64_t last = so_far();
    if (output ? last > when_warm : steady.frames >= warm.frames) {
        add_weights(kind.name, sequence, steady);
        return {steady.frames, last - when_warm};
    }
    warn(kind, "those of the warm-up, as the stream or the time is too short");
    add_weights(kind.name, sequence, warm);
    return {warm.frames, when_warm - first};
}

void Profiler::warn(const CoreKind& kind, const std::string& what) {
    profile_.warnings.push_back(fmt::format("weights on {}: {}", kind.name, what));
}

RunReport Profiler::warm_up(Sequence& sequence, const Output& output) const {
    if (output) return sequence.run({.stop_when = [&] { return output() > 0; }});
    if (!options_.frames) return sequence.run({.stop_when = over_after(kWarmUp * options_.seconds)});
    const auto frames = static_cast<std::uint64_t>(kWarmUp * static_cast<double>(*options_.frames));
    return frames > 0 ? sequence.run({.frames = frames}) : RunReport();
}

RunReport Profiler::go_on(Sequence& sequence, const Output& output) const {
    if (options_.frames) return sequence.run({.frames = *options_.frames});
    return sequence.run({.stop_when = over_after((output ? 1 : 1 - kWarmUp) * options_.seconds)});
}

void Profiler::name_units(const Sequence& sequence, const RunReport& report) {
    const std::vector<double> bytes = cut_bytes(sequence.graph(), sequence.structure(), report);
    for (std::size_t u = 0; u < report.units.size(); ++u) {
        const UnitReport& unit = report.units[u];
        profile_.tasks.push_back({unit.name, unit.replicable, {}, bytes[u], unit.lacks_word});
    }
}

void Profiler::add_weights(const std::string& kind, const Sequence& sequence, const RunReport& report) {
    if (report.frames == 0) {
        throw ScheduleError(
            fmt::format("nothing to profile on {}: the source ended before its first frame", kind));
    }
    if (profile_.kinds.empty()) name_units(sequence, report);
    profile_.cores.set(kind, (options_.cores ? *options_.cores : platform_of(topology_)).count(kind));
    profile_.kinds.push_back(kind);
    profile_.measured_by = fmt::format("tidemill, {} source frames", report.frames);
    const std::vector<double> weights_us = report.unit_weights_us();
    for (std::size_t u = 0; u < weights_us.size(); ++u) profile_.tasks[u].weight_us.push_back(weights_us[u]);
    static_cast<Chain&>(profile_) = rounded(profile_);
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
