#include "tidemill/run/profiler.hpp"

#include <fmt/format.h>

#include "tidemill/platform/affinity.hpp"

namespace tidemill {

ProfiledRun profile(Graph& graph, const Topology& topology, const RunOptions& options) {
    Sequence sequence(graph);
    ProfiledRun result;
    for (const Unit& unit : sequence.structure().units) {
        result.profile.tasks.push_back({unit.name, unit.replicable, {}});
    }
    for (const CoreKind& kind : topology.kinds) {
        const PinGuard pinned(topology.cores[kind.cores.front()].pus);
        result.not_pinned.push_back(pinned.error() ? pinned.error()->reason : "");
        result.reports.push_back(sequence.run(options));
        result.profile.kinds.push_back(kind.name);
        const std::vector<double> weights = result.reports.back().unit_weights_us();
        for (std::size_t u = 0; u < weights.size(); ++u)
            result.profile.tasks[u].weight_us.push_back(weights[u]);
    }
    result.profile.measured_by =
        fmt::format("tidemill, {} source frames per core kind", result.reports[0].frames);
    return result;
}

}  // namespace tidemill
