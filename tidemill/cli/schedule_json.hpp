#pragma once

#include "tidemill/json/json.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// A schedule as results show it: period, cores used per kind, stages.
Json schedule_json(const Schedule& schedule, const Chain& chain);

/// The same for a schedule whose chain nobody has profiled here: without the stages' weights.
Json schedule_json(const Schedule& schedule);

}  // namespace tidemill::cli
