#include "tidemill/run/weigh/profiler.hpp"

#include <fmt/format.h>

#include "tidemill/platform/affinity.hpp"
#include "tidemill/run/weigh/cut_bytes.hpp"
#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill {

namespace {

void name_units(Profile& profile, const Sequence& sequence, const RunReport& report) {
    const std::vector<double> bytes = cut_bytes(sequence.graph(), sequence.structure(), report);
    for (std::size_t u = 0; u < report.units.size(); ++u) {
        const UnitReport& unit = report.units[u];
        profile.tasks.push_back({unit.name, unit.replicable, {}, bytes[u]});
    }
}

}  // namespace

void add_weights(Profile& profile, const std::string& kind, const Sequence& sequence,
                 const RunReport& report) {
    if (report.frames == 0) {
        throw ScheduleError(
            fmt::format("nothing to profile on {}: the source ended before its first frame", kind));
    }
    if (profile.kinds.empty()) name_units(profile, sequence, report);
    profile.kinds.push_back(kind);
    profile.measured_by = fmt::format("tidemill, {} source frames", report.frames);
    const std::vector<double> weights_us = report.unit_weights_us();
    for (std::size_t u = 0; u < weights_us.size(); ++u) profile.tasks[u].weight_us.push_back(weights_us[u]);
    static_cast<Chain&>(profile) = rounded(profile);
}

Profile profile(Graph& graph, const Topology& topology, const RunOptions& options) {
    Sequence sequence(graph);
    Profile result;
    for (const CoreKind& kind : topology.kinds) {
        const PinGuard pinned(topology.cores[kind.cores.front()].pus);
        add_weights(result, kind.name, sequence, sequence.run(options));
    }
    return result;
}

}  // namespace tidemill
