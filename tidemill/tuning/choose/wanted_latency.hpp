#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/tuning/choose/run_config.hpp"

namespace tidemill::internal {

/// The schedule of least period whose frames take no longer than is wanted. Nothing where no latency is
/// wanted, or the schedule is to have other merits, too; nor where it is not known how to count, which is
/// reported.
std::optional<Schedule> schedule_within_latency(const Profile& profile, const RunConfig& how,
                                                std::vector<std::string>& warnings);

/// Where a latency is wanted: as many frames in flight as it allows, since those that wait make up for tasks
/// that take longer now and then. Reports where even one takes longer.
void limit_in_flight(Schedule& schedule, const Profile& profile, const RunConfig& how,
                     std::vector<std::string>& warnings);

}  // namespace tidemill::internal
