#pragma once

#include <functional>

#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

/// Makes a schedule of a chain on so many cores, under such a model.
using MakeSchedule = std::function<Schedule(const Platform& cores, const CostModel& model)>;

/// A schedule with its threads placed in the clusters that the model has, and its period under that: the
/// shortest of those that are made for the cores of one cluster of each kind, of two, of four, and so on, and
/// of those for which any cut counts as far. Of equal ones the first. Where all cores are near each other,
/// what is made for all.
Schedule near_schedule(const Chain& chain, const Platform& cores, const CostModel& model,
                       const MakeSchedule& make);

/// The same by a strategy; where more than speed is wanted, only placed.
Schedule near_schedule(const Strategy& strategy, const Chain& chain, const Platform& platform,
                       const Objective& objective, const CostModel& model);

}  // namespace tidemill
