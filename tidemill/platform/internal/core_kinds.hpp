#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hwloc.h>

#include "tidemill/platform/topology.hpp"

namespace tidemill::internal {

/// A kind as a source tells it: its PUs by operating-system number, and what is known about them.
struct FoundKind {
    std::string name = {};  // empty unless the source names it
    std::vector<int> os_numbers = {};
    std::string core_type = {};
    std::optional<int> capacity = {};
    std::optional<int> max_frequency_mhz = {};
};

/// Kinds ordered big first, and the source that told them.
struct FoundKinds {
    std::vector<FoundKind> kinds = {};
    std::string from = {};
};

/// Kinds by hand, "big=0-3,little=4-7"; throws PlatformError that names the faulty part.
FoundKinds kinds_by_hand(std::span<const Core> cores, std::string_view text);

/// The first of hwloc's core kinds, the kernel's capacities and the maximum frequencies under
/// `sysfs_root` (if any) that tells cores apart; one kind of everything if none does.
FoundKinds discover_kinds(hwloc_topology_t machine, std::span<const Core> cores,
                          const std::optional<std::string>& sysfs_root);

}  // namespace tidemill::internal
