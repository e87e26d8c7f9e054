#pragma once

#include "tidemill/apps/reception/rx_carriers.hpp"
#include "tidemill/apps/reception/rx_reception.hpp"

namespace tidemill::cli {

/// Results of the run, the source, the receivers and the outputs in the end.
void collect_results(const GraphRun& run, const RxReception& reception, RxCarriers& carriers);

}  // namespace tidemill::cli
