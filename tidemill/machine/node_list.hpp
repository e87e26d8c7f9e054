#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/machine/pu_set.hpp"
#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// The nodes of one node-list entry: "PU3", "PU0-7", "3" and "0-7" give one PU each, "core2" and
/// "core0-5" a core's PUs each (hwloc's logical numbers). Throws PlatformError that names the entry.
std::vector<PuSet> parse_node(std::span<const Core> cores, std::string_view entry);

/// The nodes of all entries in order; refuses a PU that is named twice.
std::vector<PuSet> parse_node_list(std::span<const Core> cores, std::span<const std::string> entries);

}  // namespace tidemill
