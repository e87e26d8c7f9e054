#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/platform/topology.hpp"
#include "tidemill/run/report.hpp"
#include "tidemill/run/sequence.hpp"
#include "tidemill/schedule/chain.hpp"

namespace tidemill {

/// Adds to `profile` what a run of `sequence` tells of one core kind: the units' weights in microseconds per
/// source frame. The first call also names the units and says how many bytes would cross a cut behind each.
/// Throws ScheduleError when the run saw no source frame.
void add_weights(Profile& profile, const std::string& kind, const Sequence& sequence,
                 const RunReport& report);

/// Runs `graph` in order, pinned to the first core of each kind in turn, each time for as long as `options`
/// say, and weighs its units. Frames that are run are delivered: a stateful graph goes on from where it was.
Profile profile(Graph& graph, const Topology& topology, const RunOptions& options);

}  // namespace tidemill
