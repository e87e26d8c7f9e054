#pragma once

#include <cstdint>
#include <limits>

namespace tidemill {

/// A count of frames that has no end, and the number of a frame that never comes.
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

}  // namespace tidemill
