#pragma once

#include <string>

#include "tidemill/machine/topology.hpp"

namespace tidemill::internal {

/// A machine that nobody has: in hwloc's synthetic form, with its kinds of cores.
inline Topology made_up_machine(const std::string& description, const std::string& kinds) {
    TopologySource source;
    source.machine = TopologySource::Machine::kSynthetic;
    source.description = description;
    source.kinds = kinds;
    return Topology::load(source);
}

/// Four cores of one kind, with one hardware thread each.
inline Topology four_cores() {
    return made_up_machine("core:4 pu:1", "big=core0-3");
}

}  // namespace tidemill::internal
