#pragma once

#include <span>
#include <string_view>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// A way to schedule a chain, by its published name.
struct Strategy {
    std::string_view name;
    std::string_view summary;
    Schedule (*solve)(const Chain& chain, const Platform& platform, const Objective& objective,
                      const CostModel& model);
    bool knows_costs = true;  ///< of stages and cuts

    /// Schedules a chain; throws ScheduleError for chains, platforms, objectives and models that the strategy
    /// cannot use.
    Schedule schedule(const Chain& chain, const Platform& platform, const Objective& objective = {},
                      const CostModel& model = {}) const {
        return solve(chain, platform, objective, model);
    }
};

/// All strategies, best first.
std::span<const Strategy> strategies();

/// Those of the papers, to be compared with what they say of them.
std::span<const Strategy> published_strategies();

/// The strategy of a name; throws ScheduleError listing the names that there are.
const Strategy& strategy(std::string_view name);

}  // namespace tidemill
