#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemill {

/// A task that said that the stream ends.
struct StreamStop {
    std::uint32_t step = 0;          ///< in the plan
    std::uint64_t frame = 0;         ///< before which the stream ends, by its place in the segment
    std::uint64_t number = 0;        ///< of that frame in its branch
    std::vector<std::byte> knobs{};  ///< the values under which that frame began, where the graph has knobs
};

}  // namespace tidemill
