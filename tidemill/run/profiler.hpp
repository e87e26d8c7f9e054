#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/graph/graph.hpp"
#include "tidemill/platform/topology.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/sequence.hpp"
#include "tidemill/schedule/chain.hpp"

namespace tidemill {

/// What profiling found: the weights that schedulers need, and the run behind each core kind's.
struct ProfiledRun {
    Profile profile;
    std::vector<RunReport> reports;  ///< one per core kind
    std::vector<std::string>
        not_pinned;  ///< per core kind: why the system refused to pin; empty when it did not
};

/// Runs `graph` in order, pinned to the first core of each kind in turn, each time for as long as `options`
/// say, and weighs its units in microseconds per source frame. Frames that are run are delivered: a
/// stateful graph goes on from where it was.
ProfiledRun profile(Graph& graph, const Topology& topology, const RunOptions& options);

}  // namespace tidemill
