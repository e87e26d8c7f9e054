#pragma once

#include <string>

#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// The topology as a table for people: kinds, clusters, caches and what is hidden; ends in a newline.
std::string describe(const Topology& topology);

}  // namespace tidemill
