#pragma once

#include <string>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill {

/// Forecast for a schedule, by a profile: the interval is what its weights are sure to, and what such
/// forecasts have been off by where nothing else disturbed the run. Throws ScheduleError when they do not
/// fit.
Forecast forecast(const Schedule& schedule, const Profile& profile, const CostModel& model);

/// "predicted 226.1 (205.0 to 240.3), real 231.0".
std::string in_words(const Forecast& forecast, double real_us);

}  // namespace tidemill
