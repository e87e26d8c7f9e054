#pragma once

#include <span>
#include <string>
#include <vector>

#include "tidemill/machine/internal/core_kinds.hpp"

namespace tidemill::internal {

/// Core kinds in the kernel's files, a source each, the ones to be believed first: capacities, which counters
/// belong to which cores, ACPI's highest performance, maximum frequencies. Empty kinds where a source says
/// nothing, or not of each PU.
std::vector<FoundKinds> sysfs_kinds(const std::string& root, std::span<const Core> cores);

/// Where cores have counters of several designs: a warning that they cannot be equal, to be put behind the
/// words that say so; else nothing.
std::string unlike_counters(const std::string& root, std::span<const Core> cores);

}  // namespace tidemill::internal
