#pragma once

#include <string>

#include "tidemill/run/job/how_to_run.hpp"
#include "tidemill/schedule/cost_model.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill {

/// Of a schedule, by a profile: the interval is what its weights are sure to, and what such forecasts have
/// been off by where nothing else disturbed the run. Throws ScheduleError when they do not fit.
Forecast forecast(const Schedule& schedule, const Profile& profile, const CostModel& model);

/// "predicted 226.1 (205.0 to 240.3), real 231.0".
std::string in_words(const Forecast& forecast, double real_us);

}  // namespace tidemill
