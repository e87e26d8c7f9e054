#pragma once

#include <optional>

#include "tidemill/platform/topology.hpp"
#include "tidemill/schedule/chain.hpp"

namespace tidemill {

/// All cores of a machine, by kind.
Platform platform_of(const Topology& topology);

/// All cores of this one that the process may use; throws PlatformError when the machine cannot be read.
Platform platform_here();

/// The cores that are wanted, or all of a machine; throws PlatformError when it has not as many.
Platform cores_here(const std::optional<Platform>& wanted, const Topology& topology);

}  // namespace tidemill
