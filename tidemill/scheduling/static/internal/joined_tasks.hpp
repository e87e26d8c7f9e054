#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::internal {

/// A chain in which some neighbours are one task: on a device, where their frames stay from one to the next,
/// that costs less than they do one by one. So a search for schedules finds them without knowing why.
struct JoinedTasks {
    Chain chain;
    CostModel model;    ///< without the cuts between them
    std::size_t first;  ///< of them, in the chain that has them one by one
    std::size_t count;

    /// A schedule of this chain, for the one that has them one by one.
    Schedule parted(Schedule schedule, const Chain& one_by_one, const CostModel& its_model) const;
};

/// One for all neighbours that save something on that device together. Exact where one stage is there.
std::vector<JoinedTasks> joined_tasks(const Chain& chain, const std::string& device, const CostModel& model);

}  // namespace tidemill::internal
