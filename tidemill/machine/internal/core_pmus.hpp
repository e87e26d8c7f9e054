#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/counters.hpp"

namespace tidemill::internal {

/// Counted quantities, in the order of a group's events.
inline constexpr std::array kCounts{&CoreTypeCounts::cycles, &CoreTypeCounts::instructions,
                                    &CoreTypeCounts::last_level_misses};

/// The counters of one type of core.
struct CorePmu {
    std::string name;            ///< "cpu", "cpu_core", "armv8_cortex_a76"
    std::uint32_t type = 0;      ///< the kernel's number of it
    std::vector<int> cpus = {};  ///< whose counters these are; empty: all
    std::array<std::optional<std::uint64_t>, kCounts.size()>
        events{};  ///< in that order; empty where it has none
};

/// The PMUs of cores, not those of memory, caches or packages, by name; none where the kernel has none.
/// Throws PlatformError where a file says something that is no description of an event.
std::vector<CorePmu> core_pmus(const std::string& sys_root);

/// The number of an event from the kernel's text, "event=0x2e,umask=0x41", and the folder that says which
/// bits each word is; nothing where these are not all bits of that number. Throws PlatformError naming the
/// file.
std::optional<std::uint64_t> event_number(const std::string& text, const std::string& format_folder);

}  // namespace tidemill::internal
