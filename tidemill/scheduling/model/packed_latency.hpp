#pragma once

#include "tidemill/scheduling/static/latency.hpp"

namespace tidemill {

// least_latency() and within_latency() where threads may own several stages, as packed() has them. Such a
// thread waits for itself, too, so what a number of frames in flight comes to is simulated. Best of what
// stages alone can do, exactly, and of packed() at some periods: so never worse than stages, and no optimum.

/// The schedule with as many frames in flight as its least period needs, and no more: by events where
/// threads own several stages, else as paced().
PacedSchedule paced_by_events(Schedule schedule, const Chain& chain, const CostModel& model = {});

/// Throws as least_latency().
PacedSchedule packed_least_latency(const Chain& chain, const Platform& platform,
                                   const Objective& objective = {}, const CostModel& model = {});

/// Throws as within_latency().
PacedSchedule packed_within_latency(double most_us, const Chain& chain, const Platform& platform,
                                    const Objective& objective = {}, const CostModel& model = {});

}  // namespace tidemill
