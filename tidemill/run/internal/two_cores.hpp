#pragma once

#include "tidemill/platform/topology.hpp"

namespace tidemill::internal {

/// A machine with two cores of one kind, whatever this one has.
inline const Topology& two_cores() {
    static const Topology topology = [] {
        TopologySource source;
        source.machine = TopologySource::Machine::kSynthetic;
        source.description = "core:2 pu:1";
        source.kinds = "big=core0-1";
        return Topology::load(source);
    }();
    return topology;
}

}  // namespace tidemill::internal
