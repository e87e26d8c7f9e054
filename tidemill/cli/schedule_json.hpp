#pragma once

#include <nlohmann/json.hpp>

#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// A schedule as results show it: period, cores used per kind, stages.
nlohmann::ordered_json schedule_json(const Schedule& schedule, const Chain& chain);

}  // namespace tidemill::cli
