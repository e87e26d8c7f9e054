#pragma once

#include <filesystem>
#include <optional>

namespace tidemill {

/// How many CPUs' time the control groups of this process let it use (v1: cpu.cfs_quota_us, v2: cpu.max), the
/// least of all groups that it is in; none where there is no limit. Files that cannot be read or make no
/// sense limit nothing. Names in /proc and /sys are looked up below `root`.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

/// So many whole cores fit into a quota: one at least.
std::size_t whole_cores(double quota);

}  // namespace tidemill
