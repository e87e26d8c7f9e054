#pragma once

#include <string>

#include "tidemill/platform/topology.hpp"
#include "tidemill/schedule/chain.hpp"

namespace tidemill::cli {

/// All cores of a machine, by kind.
Platform platform_of(const Topology& topology);

/// The cores that `--cores` asks for, or all when it is empty; throws WrongUsage when there are not as many.
Platform chosen_platform(const std::string& cores, const Topology& topology);

}  // namespace tidemill::cli
