#pragma once

#include <functional>
#include <vector>

#include "tidemill/machine/topology.hpp"

namespace tidemill {

/// Work of a core in a second when it is alone: steps of arithmetic, and loads that every cache misses. Only
/// ratios of them mean anything.
struct CoreSpeed {
    double compute = 0;
    double memory = 0;
};

/// Measures a core once.
using MeasureCore = std::function<CoreSpeed(const Core& core)>;

/// Measures this machine's cores by two kernels on the core's first PU, each for so many seconds of processor
/// time, so that other threads there only take cache. Throws PlatformError where it cannot be pinned there.
MeasureCore core_probe(const Topology& topology, double seconds);

/// Result of several short measurements of a core. Others only ever take time away, so the best counts.
struct MeasuredCore {
    CoreSpeed best{};
    double spread = 0;  ///< how far, as a share, the third best lies below the best, of what repeats worse
};

/// Each core of the topology so many times (3 at least), all in turn, so that what disturbs the machine for a
/// while disturbs all of them.
std::vector<MeasuredCore> measure_cores(const Topology& topology, const MeasureCore& measure, int rounds);

}  // namespace tidemill
