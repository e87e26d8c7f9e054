#pragma once

#include <cstddef>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// A schedule, and how many frames are to be in flight.
///
/// With F of them frame k begins when frame k - F has left. So a stream whose source always has another frame
/// has the period T = max(that of the slowest stage, latency_us() / F), the largest mean of all circuits of
/// waits (as settled_period_us() of the room `sim`), and by Little's law a place for a frame
/// is taken anew every F T. So frames take at most that on average, and less where places wait for the
/// source; not less than latency_us(), which it is where F is small. Replicas may leave in bunches, so one
/// frame may take longer than another.
struct PacedSchedule {
    Schedule schedule;       ///< its frames_in_flight are `frames`
    std::size_t frames = 1;  ///< in flight at most
    double period_us = 0;    ///< with so many
    double latency_us = 0;   ///< at most, on average, while the source always has another frame
};

/// How long a frame takes that waits for nobody: each stage in turn, on one thread; in a mixed stage, on its
/// slowest; on a device, as long as its batch, for which it waits, besides, while that fills. In µs.
double latency_us(const Schedule& schedule, const Chain& chain, const CostModel& model = {});

/// The schedule with as many frames in flight as its period needs, and no more.
PacedSchedule paced(Schedule schedule, const Chain& chain, const CostModel& model = {});

/// The schedule on which a frame that waits for nobody takes least, among those of the least period or, where
/// one is wanted, of any up to that; among equals fewest cores, the platform's first kind first. Exact, for
/// any number of kinds; stages have cores of one kind, and those on devices are tried in batches of the most
/// frames, a half, a quarter, ... of them, without what devices take of the host. A wanted period that no
/// schedule reaches is answered with the least there is. Throws ScheduleError for what herad() cannot use,
/// for models in which cores slow down as others are busy, and for problems that would take minutes.
PacedSchedule least_latency(const Chain& chain, const Platform& platform, const Objective& objective = {},
                            const CostModel& model = {});

/// The least period at which PacedSchedule::latency_us is no more than `most_us`, with the frames in flight
/// that this needs; where even one frame alone takes longer, the schedule on which it takes least. Exact, and
/// throws, as least_latency(), and for a wanted period beside the limit.
PacedSchedule within_latency(double most_us, const Chain& chain, const Platform& platform,
                             const Objective& objective = {}, const CostModel& model = {});

}  // namespace tidemill
