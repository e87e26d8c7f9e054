#pragma once

#include <string>

#include "tidemill/apps/reception/rx_outcome.hpp"

namespace tidemill::cli {

/// The outcome in some lines for each carrier; with `stats`, tables of tasks, schedule and stages behind
/// them.
std::string outcome_text(const CarriersOutcome& outcome, bool stats);

/// The outcome as one JSON object.
std::string report_json(const CarriersOutcome& outcome);

/// Why nothing came out of any, and what to try.
std::string failure_text(const CarriersOutcome& outcome);

}  // namespace tidemill::cli
