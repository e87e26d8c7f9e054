#pragma once

#include <nlohmann/json.hpp>

#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// A schedule as results show it: period, cores used per kind, stages.
nlohmann::ordered_json schedule_json(const Schedule& schedule, const Chain& chain);

/// The same for a schedule whose chain nobody has weighed here: without the stages' weights.
nlohmann::ordered_json schedule_json(const Schedule& schedule);

}  // namespace tidemill::cli
