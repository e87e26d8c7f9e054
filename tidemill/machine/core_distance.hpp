#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// How far cores are from each other: nanoseconds that a word takes from one to another and back, [a][b].
using CoreDistances = std::vector<std::vector<double>>;

/// Measured between all pairs of these cores of this machine, which are indices into Topology::cores, in so
/// many seconds at most: hosts move virtual cores, so no table holds. Empty where the time is too short for
/// all pairs, or a core is not ours. With the word go so many bytes that either side reads and writes.
CoreDistances core_distances(const Topology& topology, std::span<const std::size_t> cores,
                             double seconds = 0.05, std::size_t bytes = 0);

/// Whether some two of them are more than `factor` times as far from each other as the nearest two.
bool some_are_far(const CoreDistances& distances, double factor);

/// All cores in a row in which neighbours are near each other: from the first one on always the nearest that
/// is left.
std::vector<std::size_t> row_of_near(const CoreDistances& distances);

/// The same row in groups: two cores are in one where they are at most `factor` times as far from each other
/// as the nearest two, or where such pairs lead from one to the other.
std::vector<std::vector<std::size_t>> near_groups(const CoreDistances& distances, double factor);

}  // namespace tidemill
