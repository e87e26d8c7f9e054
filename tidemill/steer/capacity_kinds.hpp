#pragma once

#include <filesystem>
#include <vector>

#include "tidemill/steer/kinds.hpp"

namespace tidemill::steer {

/// The kernel's files on CPUs.
inline constexpr const char* kCpuFolder = "/sys/devices/system/cpu";

/// A list of CPUs that the kernel keeps in a file, as "possible" or "online"; throws SteerError where it is
/// no such list.
CpuSet read_cpus(const std::filesystem::path& file);

/// Kinds by the kernel's capacities alone, the largest first, for where Topology cannot be: each CPU counts
/// as a core, and capacities that differ by less than a tenth are of one kind. CPUs without a capacity are of
/// none. Throws SteerError where the kernel lists no CPUs.
std::vector<CpuKind> kinds_by_capacity(const std::filesystem::path& folder = kCpuFolder);

}  // namespace tidemill::steer
