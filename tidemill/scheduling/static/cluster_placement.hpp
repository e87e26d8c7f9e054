#pragma once

#include <vector>

#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Cost of far cuts for each thread of each stage, in µs per execution on average, [stage][thread]; empty
/// where nothing is far. The threads of a kind have the cores that the schedule's resources name, one after
/// the other, stage by stage; of a kind without resources, or whose threads are not pinned to whole cores in
/// this order, nothing is known.
std::vector<std::vector<double>> far_cuts_us(const Schedule& schedule, const CostModel& model);

/// Names the cores of the kinds that the model has in clusters and the schedule leaves open: for the least
/// period, far cuts counted on both sides; then so that far cuts take least in all, then in the fewest
/// clusters. Exact for few threads; for many the best that a search of some milliseconds finds.
void place_in_clusters(Schedule& schedule, const Chain& chain, const CostModel& model);

}  // namespace tidemill
