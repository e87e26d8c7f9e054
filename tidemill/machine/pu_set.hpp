#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

namespace tidemill {

/// A processing unit (hardware thread): hwloc's logical number and the operating system's number.
struct Pu {
    int number = 0;
    int os_number = 0;

    auto operator<=>(const Pu&) const = default;
};

/// Processing units without repetition, in an order that means something to its maker.
using PuSet = std::vector<Pu>;

namespace internal {

/// Numbers as ranges with a prefix for the whole: {0, 1, 2, 5} and "PU" give "PU0-2,5".
std::string number_ranges(std::string_view prefix, std::vector<int> numbers);

}  // namespace internal

/// Logical numbers as a schedule file spells them: "PU0-2,5"; "any" for the empty set.
std::string to_string(std::span<const Pu> pus);

}  // namespace tidemill
