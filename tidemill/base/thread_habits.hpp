#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemill {

/// How much freedom the operating system keeps in placing a stage's threads.
enum class Pinning : std::uint8_t {
    kPacked,   ///< one core each, in ascending order, so that neighbours share caches
    kGuided,   ///< any core of the stage's kind
    kDistant,  ///< one core each, in turn from each cluster of the kind
    kLoose,    ///< anywhere
};
inline constexpr std::array<std::string_view, 4> kPinningNames{"packed", "guided", "distant", "loose"};
constexpr std::string_view to_string(Pinning pinning) {
    return kPinningNames[static_cast<std::size_t>(pinning)];
}

/// How a thread waits for its turn at a token.
enum class WaitMode : std::uint8_t {
    passive,  ///< looks for a microsecond or two, then sleeps in the kernel
    active,   ///< spins, and yields the core when others may need it
    mixed,    ///< spins for some tens of microseconds, then sleeps
};
inline constexpr std::array<std::string_view, 3> kWaitingNames{"passive", "active", "mixed"};
constexpr std::string_view to_string(WaitMode waiting) {
    return kWaitingNames[static_cast<std::size_t>(waiting)];
}

}  // namespace tidemill
