#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tidemill/options/result_table.hpp"

namespace tidemill::cli {

/// Last column of a table: whether what was published comes out here. A note of the table says the rule.
inline constexpr const char* kReproduces = "reproduces";

enum class Verdict { yes, no, cannot_tell };

/// "yes", "no" or "cannot tell".
Cell to_cell(Verdict verdict);

Verdict yes_if(bool reproduces);

/// Whether two numbers differ by no more than a part of the second; cannot tell where one is not known.
Verdict agrees_within(double part, const Cell& ours, const Cell& published);

/// Adds the column, as `judge` says of each row, and the rule as a note.
void add_verdicts(ResultTable& table, const std::string& rule,
                  const std::function<Verdict(const std::vector<Cell>&)>& judge);

/// The same for a table of which nothing can be compared, because of `why`.
void add_no_verdicts(ResultTable& table, const std::string& why);

/// Things that are compared are measured by turns, each once a round.
inline constexpr int kPairedRounds = 11;

/// From the second least to the second greatest of what the rounds gave: holds the median of all rounds there
/// could be, with a probability of 98.8 % whatever their distribution.
struct Interval {
    double least = 0;
    double most = 0;
};

/// Interval of at least three values.
Interval interval_of(std::vector<double> rounds);

/// Value for value.
std::vector<double> ratios_of(const std::vector<double>& rounds, const std::vector<double>& baseline);

/// Whether the median is below a limit: yes where all of the interval is, no where nothing of it is.
Verdict is_below(const Interval& interval, double limit);

}  // namespace tidemill::cli
