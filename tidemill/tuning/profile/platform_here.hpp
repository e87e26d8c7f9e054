#pragma once

#include <optional>

#include "tidemill/machine/topology.hpp"
#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// The cores of a machine, by kind: all, or as many of the fastest as fit into the quota of the process's
/// control groups.
Platform platform_of(const Topology& topology);

/// The same of this one, as far as the process may use it; throws PlatformError when the machine cannot be
/// read.
Platform platform_here();

/// The cores that are wanted, or those of a machine by its quota; throws PlatformError when it has not as
/// many.
Platform cores_here(const std::optional<Platform>& wanted, const Topology& topology);

}  // namespace tidemill
