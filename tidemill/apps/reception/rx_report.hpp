#pragma once

#include <string>

#include "tidemill/apps/reception/rx_outcome.hpp"
#include "tidemill/base/json.hpp"

namespace tidemill::cli {

/// The outcome in one line, and another one for each thing that is odd about it.
std::string summary_text(const RxOutcome& outcome);

/// The outcome in a few lines; with `stats`, tables of tasks, schedule and stages behind them.
std::string report_text(const RxOutcome& outcome, bool stats);

/// The outcome as one JSON object.
std::string report_json(const RxOutcome& outcome);

/// Its account of the reception alone, as text and as an object: for one carrier of several.
std::string account_text(const RxOutcome& outcome);
Json account_json(const RxOutcome& outcome);

/// The rest of it: how the run went.
std::string run_text(const RxOutcome& outcome, bool stats);
void add_run(const RxOutcome& outcome, Json& json);

/// Why nothing came out, and what to try.
std::string failure_text(const RxOutcome& outcome);

}  // namespace tidemill::cli
