#pragma once

#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/report/report.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"

namespace tidemill::internal {

/// Adds to a report how busy each cluster of cores was: of kinds whose cores were found to be in clusters, by
/// these, else by the topology's. Nothing where there is one cluster, or no thread was pinned.
void tell_clusters(RunReport& report, const Topology& topology, const std::vector<FarCuts>& far_cuts);

}  // namespace tidemill::internal
