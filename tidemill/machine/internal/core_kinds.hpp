#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hwloc.h>

#include "tidemill/machine/topology.hpp"

namespace tidemill::internal {

/// A kind as a source describes it: its PUs by operating-system number, and what is known about them.
struct FoundKind {
    std::string name = {};  // empty unless the source names it
    std::vector<int> os_numbers = {};
    std::string core_type = {};
    std::optional<int> capacity = {};
    std::optional<int> max_frequency_mhz = {};
};

/// Kinds ordered big first, and the source they came from.
struct FoundKinds {
    std::vector<FoundKind> kinds = {};
    std::string from = {};
};

/// Kinds by hand, "big=0-3,little=4-7"; throws PlatformError that names the faulty part.
FoundKinds kinds_by_hand(std::span<const Core> cores, std::string_view text);

/// The first source that distinguishes cores, of hwloc's core kinds and what sysfs_kinds() finds under
/// `sysfs_root` (if any); hwloc comes last where it knows frequencies only. One kind of everything if none
/// does.
FoundKinds discover_kinds(hwloc_topology_t machine, std::span<const Core> cores,
                          const std::optional<std::string>& sysfs_root);

/// "big", "little", "kind3" and so on, for kinds that have no name.
std::string default_kind_name(std::size_t index);

/// Rank of a vendor's word for a core type: 0 is the fastest; nothing where the word gives no speed.
std::optional<int> type_rank(std::string_view core_type);

std::vector<int> all_os_numbers(std::span<const Core> cores);

/// A text that is a whole number and nothing else.
std::optional<int> to_int(std::string_view text);

/// Cores of one design are sold in speed bins (RK3588's two A76 clusters, favoured cores of a desktop): what
/// differs by less than a tenth is one kind.
bool is_speed_bin(int slower, int faster);

/// Neighbours of one design as one kind; `kinds` are ordered big first.
std::vector<FoundKind> merge_speed_bins(std::vector<FoundKind> kinds);

}  // namespace tidemill::internal
