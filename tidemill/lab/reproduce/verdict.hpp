#pragma once

#include <vector>

#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// Last column of a table: whether what was published comes out here. A note of the table says the rule.
inline constexpr const char* kReproduces = "reproduces";

enum class Verdict { yes, no, cannot_tell };

/// "yes", "no" or "cannot tell".
Cell to_cell(Verdict verdict);

/// Things that are compared are measured by turns, each once a round.
inline constexpr int kPairedRounds = 11;

/// From the second least to the second greatest of what the rounds gave: holds the median of all rounds there
/// could be, with a probability of 98.8 % whatever their distribution.
struct Interval {
    double least = 0;
    double most = 0;
};

/// Of at least three values.
Interval interval_of(std::vector<double> rounds);

/// Value for value.
std::vector<double> ratios_of(const std::vector<double>& rounds, const std::vector<double>& baseline);

/// Whether the median is below a limit: yes where all of the interval is, no where nothing of it is.
Verdict is_below(const Interval& interval, double limit);

}  // namespace tidemill::cli
