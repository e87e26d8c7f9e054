#pragma once

#include <string_view>

#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

// The published greedy strategies. All search for the least period at which their way of building stages from
// the first task on succeeds; they differ from the published code only where that fails or depends on units:
// the search starts from a period that is always possible and ends when no schedule can lie between, zero
// weights take a core, any kind may be missing or the faster one, and there may be more than two. Where a
// period is wanted, they build for that one if they can. They have no other preference among equals than
// their own: ScheduleError.

/// OTAC: one kind of cores only, for which it is optimal. Throws ScheduleError when the platform has none.
Schedule otac(const Chain& chain, const Platform& platform, std::string_view kind,
              const Objective& objective = {});

/// FERTAC: each stage on the last kind that can do it (little before big); no way back.
Schedule fertac(const Chain& chain, const Platform& platform, const Objective& objective = {});

/// 2CATAC: each stage on every kind that can do it, and the rest of the chain after each; the fewest cores of
/// the first kind, then of the second and so on. What is left to do is remembered, so it takes no exponential
/// time.
Schedule two_catac(const Chain& chain, const Platform& platform, const Objective& objective = {});

}  // namespace tidemill
