#pragma once

#include "tidemill/apps/reception/rx_carriers.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/tuning/graph_run.hpp"

namespace tidemill::cli {

/// Finds the schedule of a reception, where there is to be one, says what it promises, and keeps that for the
/// account. Throws as GraphRun::prepare(), DeviceError for a device that refuses and cannot be done without.
void find_schedule(GraphRun& run, const Topology& topology, RxCarriers& carriers);

/// A schedule file holds the time of a block; what a block carries is known only after the run.
void predict_from_period(RxOutcome& outcome);

}  // namespace tidemill::cli
