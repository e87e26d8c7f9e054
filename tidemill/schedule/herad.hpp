#pragma once

#include "tidemill/schedule/schedule.hpp"

namespace tidemill {

/// The optimal schedule: least period; among equals fewest cores of the platform's first kind, then of the
/// second and so on (big, little, others), then fewest stages. Exact in integers, for any number of kinds.
/// Throws ScheduleError for chains or platforms it cannot use. Named after the published strategy, whose
/// dynamic programme it replaces by tests of single periods: README.md says how.
Schedule herad(const Chain& chain, const Platform& platform);

}  // namespace tidemill
