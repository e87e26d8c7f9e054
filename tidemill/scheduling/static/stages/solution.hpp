#pragma once

#include <string_view>
#include <vector>

#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/scheduling/static/stages/stage_options.hpp"

namespace tidemill::internal {

/// Stages in chain order, each ending where the next begins.
using Solution = std::vector<StageOption>;

/// The largest stage weight of a solution.
Ratio real_period(const ExactChain& chain, const Solution& stages);

/// The period of the whole chain as one stage on one core of its fastest kind: always possible.
Ratio one_core_period(const ExactChain& chain);

/// The solution as users get it, with task names, predicted period and the strategy's name.
Schedule to_schedule(const Chain& chain, const ExactChain& exact, const Solution& stages,
                     std::string_view strategy, const CostModel& model = {});

}  // namespace tidemill::internal
