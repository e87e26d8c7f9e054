#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tidemill/base/thread_habits.hpp"
#include "tidemill/machine/pu_set.hpp"
#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// Request of one pipeline stage.
struct StagePlacement {
    std::size_t threads = 1;
    std::size_t kind = 0;  // index into Topology::kinds; unused where `nodes` are given
    Pinning pinning = Pinning::kPacked;
    std::vector<std::string> nodes = {};  // node list that stands for the kind's cores, in this order
    std::size_t smt = 1;           // hardware threads taken per core; the second ones follow all the first
    bool shares_core = false;      // packed and distant: two threads on each core, on its hardware threads
    std::size_t cluster_size = 0;  // cut the nodes into clusters of this many; 0: the machine's clusters
    std::size_t number = 0;  // of the stage, in errors; 0: its place among those that are placed, from 1
};

/// The PUs of each thread, indexed [stage][thread]; an empty set leaves the thread alone (loose).
///
/// Packed and distant never give a PU twice, across all stages; only threads that share a core with one
/// hardware thread take turns on it, and no other thread comes to a core that is shared. Throws PlatformError
/// when such a stage wants more threads than are left, or when a kind or a node does not exist.
std::vector<std::vector<PuSet>> place_threads(const Topology& topology,
                                              std::span<const StagePlacement> stages);

}  // namespace tidemill
