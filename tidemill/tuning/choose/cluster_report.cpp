#include "tidemill/tuning/choose/cluster_report.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tidemill::internal {

namespace {

struct NamedCluster {
    std::string kind;
    std::vector<int> cores;  // hwloc's logical numbers
};

std::vector<NamedCluster> clusters_of(const Topology& topology, const std::vector<FarCuts>& far_cuts) {
    std::vector<NamedCluster> clusters;
    for (const FarCuts& far : far_cuts)
        for (const std::vector<int>& cores : far.clusters) clusters.push_back({far.kind, cores});
    for (const Cluster& cluster : topology.clusters) {
        const std::string& kind = topology.kinds[cluster.kind].name;
        if (std::ranges::find(far_cuts, kind, &FarCuts::kind) != far_cuts.end()) continue;
        NamedCluster& named = clusters.emplace_back(NamedCluster{kind, {}});
        for (const std::size_t core : cluster.cores) named.cores.push_back(topology.cores[core].number);
    }
    return clusters;
}

// Work of each hardware thread that has threads, in their spelling.
std::map<std::string, double> work_us_of(const RunReport& report) {
    std::map<std::string, double> work_us;
    for (const StageReport& stage : report.stages)
        for (const ThreadReport& thread : stage.threads) work_us[thread.cores] += thread.work_us;
    return work_us;
}

ClusterReport cluster_report_of(const NamedCluster& cluster, const Topology& topology,
                                const std::map<std::string, double>& work_us, double elapsed_us) {
    ClusterReport report{.kind = cluster.kind,
                         .cores = number_ranges("core", cluster.cores),
                         .core_count = cluster.cores.size()};
    std::set<int> used;
    double sum_us = 0;
    std::size_t hardware_threads = 0;
    for (const Core& core : topology.cores) {
        if (std::ranges::find(cluster.cores, core.number) == cluster.cores.end()) continue;
        for (const Pu& pu : core.pus) {
            const auto work = work_us.find(to_string(std::span(&pu, 1)));
            if (work == work_us.end()) continue;
            used.insert(core.number);
            sum_us += work->second;
            ++hardware_threads;
        }
    }
    report.cores_used = used.size();
    // Threads that take turns on one are at work together longer than there is time.
    if (hardware_threads > 0)
        report.busy = std::min(1.0, sum_us / (static_cast<double>(hardware_threads) * elapsed_us));
    return report;
}

}  // namespace

void tell_clusters(RunReport& report, const Topology& topology, const std::vector<FarCuts>& far_cuts) {
    const std::vector<NamedCluster> clusters = clusters_of(topology, far_cuts);
    const double elapsed_us = report.stages_elapsed_s * 1e6;
    if (clusters.size() < 2 || elapsed_us <= 0) return;
    const std::map<std::string, double> work_us = work_us_of(report);
    std::vector<ClusterReport> told;
    for (const NamedCluster& cluster : clusters)
        told.push_back(cluster_report_of(cluster, topology, work_us, elapsed_us));
    const auto is_used = [](const ClusterReport& each) { return each.cores_used > 0; };
    if (std::ranges::any_of(told, is_used)) report.clusters = std::move(told);
}

}  // namespace tidemill::internal
