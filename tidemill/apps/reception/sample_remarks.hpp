#pragma once

#include <string>
#include <vector>

#include "tidemill/apps/reception/rx_outcome.hpp"

namespace tidemill::cli {

/// Faults of the samples themselves, a sentence each: no numbers among them, or many at the ends of their
/// range.
std::vector<std::string> sample_remarks(const RxOutcome& outcome);

/// Why samples hold no signal of any kind: the same, a level that cannot be processed, or one value for all.
/// Reads a part of a recording once more. Empty where they may hold one.
std::string why_no_signal(const RxOutcome& outcome);

}  // namespace tidemill::cli
