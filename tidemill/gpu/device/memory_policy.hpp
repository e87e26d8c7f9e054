#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tidemill {

/// How bytes that both host and device use come from one to the other.
enum class MemoryPolicy : std::uint8_t {
    copy,        ///< two buffers; copied from and to pageable memory, the caller waits
    pinned,      ///< two buffers; copied from and to page-locked memory while the caller goes on
    mapped,      ///< one buffer in the host's memory, which the device reaches
    managed,     ///< one buffer that moves by itself to the side that touches it
    prefetched,  ///< the same, moved ahead of its use
    system,      ///< memory as `new` gives it, which the device reaches
    resident,    ///< one buffer on the device, for what no host touches
};

std::span<const MemoryPolicy> memory_policies();

/// "copy", "pinned", ...
std::string_view name(MemoryPolicy policy);

/// The inverse of `name`; throws DeviceError listing `choices` for any other name.
MemoryPolicy memory_policy(std::string_view text, std::span<const MemoryPolicy> choices);

/// "copy, pinned, mapped".
std::string names(std::span<const MemoryPolicy> policies);

}  // namespace tidemill
