#pragma once

#include "tidemill/base/json.hpp"
#include "tidemill/scheduling/model/sim_report.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::cli {

/// A schedule as results show it: period, cores used per kind, stages.
Json schedule_json(const Schedule& schedule, const Chain& chain, const CostModel& model = {});

/// The same for a schedule whose chain nobody has profiled here: without the stages' weights.
Json schedule_json(const Schedule& schedule);

/// Results of a schedule's simulation, beside the period that its slowest stage lets expect.
Json simulation_json(const SimReport& report, double predicted_us, const Profile& profile);

}  // namespace tidemill::cli
