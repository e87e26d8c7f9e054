#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill {

/// A matrix or plane, then row and column; or whatever else distinguishes tiles.
struct Tile {
    std::uint64_t plane = 0;
    std::uint64_t row = 0;
    std::uint64_t column = 0;

    auto operator<=>(const Tile&) const = default;
};

/// Sink of a program on tiles: the tasks, in their order.
class TileTasks {
  public:
    virtual ~TileTasks() = default;

    /// A task that makes a new version of `written`; what nobody has written yet is there from the beginning.
    virtual void add(policy::TaskTypeId type, double work_us, std::uint64_t bytes, const Tile& written,
                     const std::vector<Tile>& read) = 0;

    /// All tasks from here on belong to the next iteration.
    virtual void next_iteration() = 0;
};

}  // namespace tidemill
