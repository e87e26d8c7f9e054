#pragma once

#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// Times of a graph's units per source frame, in microseconds, while all given cores of a kind are busy with
/// this graph: in a pinned pipeline, the best by the profile of each unit alone. Neighbours' caches, the way
/// from core to core and the clock are in it, and by a ratio for all what frames wait for each other that do
/// not take the same time. Frames that run are delivered. Nothing where one core is all, where the profile
/// has no schedule there, or when too few frames come in that time.
std::vector<double> busy_weights_us(Graph& graph, const Profile& alone, const CoreKind& kind, int cores,
                                    const Topology& topology, double seconds);

}  // namespace tidemill
