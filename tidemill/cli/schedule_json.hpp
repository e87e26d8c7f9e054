#pragma once

#include "tidemill/json/json.hpp"
#include "tidemill/schedule/schedule.hpp"
#include "tidemill/sim/sim_report.hpp"

namespace tidemill::cli {

/// A schedule as results show it: period, cores used per kind, stages.
Json schedule_json(const Schedule& schedule, const Chain& chain, const CostModel& model = {});

/// The same for a schedule whose chain nobody has profiled here: without the stages' weights.
Json schedule_json(const Schedule& schedule);

/// What a simulation of a schedule tells, beside the period that its slowest stage lets expect.
Json simulation_json(const SimReport& report, double predicted_us, const Profile& profile);

}  // namespace tidemill::cli
