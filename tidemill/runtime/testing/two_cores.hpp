#pragma once

#include "tidemill/runtime/testing/made_up_machine.hpp"

namespace tidemill::internal {

/// A machine with two cores of one kind, whatever this one has.
inline const Topology& two_cores() {
    static const Topology topology = made_up_machine("core:2 pu:1", "big=core0-1");
    return topology;
}

}  // namespace tidemill::internal
