#pragma once

#include <optional>
#include <string>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

/// The better of the schedules with a device and without, and why.
struct DeviceChoice {
    Schedule schedule;
    std::optional<std::string> device{};  ///< the kind that is used; none: the cores are better alone
    std::string why{};                    ///< in one sentence; empty where the platform has no device
};

/// Schedules a chain with each kind of device that the platform has, and with none. One is used only where
/// the period becomes shorter by more than `least_gain` of it, what it takes of the host counted. Throws as
/// the strategy does.
DeviceChoice choose_device(const Chain& chain, const Platform& platform, const Strategy& strategy,
                           const Objective& objective, const CostModel& model, double least_gain = 0);

/// The same where a schedule with none is known, which has its period.
DeviceChoice choose_device(Schedule alone, const Chain& chain, const Platform& platform,
                           const Strategy& strategy, const Objective& objective, const CostModel& model,
                           double least_gain = 0);

/// A batch's cost as a chain's one more kind: the task of that name gets its weight in the largest batches,
/// the others cannot run there. Throws ScheduleError where there is no such task, or the kind is there
/// already.
void add_device(Chain& chain, const std::string& task, const BatchCost& cost);

}  // namespace tidemill
