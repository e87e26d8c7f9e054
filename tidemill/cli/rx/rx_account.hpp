#pragma once

#include "tidemill/cli/rx/receivers.hpp"
#include "tidemill/cli/rx/rx_carriers.hpp"
#include "tidemill/cli/watched_run.hpp"
#include "tidemill/io/sample_source.hpp"

namespace tidemill::cli {

/// What the run, the source, the receivers and the places say in the end.
void take_account(const GraphRun& run, const WatchedRun& watched, const Receivers& receivers,
                  const io::SampleSource& source, RxCarriers& carriers);

}  // namespace tidemill::cli
