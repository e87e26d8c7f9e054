#pragma once

#include "tidemill/machine/topology.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"
#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill {

/// The cores for dynamic workers: those that are wanted, or all of a machine. Where kinds are emulated there
/// may be more than the machine has; without cores named, an emulated kind gets half of them. Throws
/// PlatformError for real cores that are not there, RunError where it is unclear which cores are emulated.
Platform cores_of_workers(const RunConfig& how, const Topology& topology);

/// Workers on those cores, by kind. Where a machine has real cores of several kinds, each stays on its kind.
DynamicOptions dynamic_workers(const RunConfig& how, const Topology& topology);

}  // namespace tidemill
