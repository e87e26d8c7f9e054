#pragma once

#include <vector>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/herad.hpp"

namespace tidemill {

/// The platforms that these cores may be where frequencies are a choice. A chain then weighs a kind once for
/// each of them, under names as "big@1200" for the cores called "big" at 1200 MHz; models and watts have the
/// same names, and the cores of a kind all have the same frequency. Each platform names one frequency for
/// each such kind, in all combinations, the first as the chain has them first; where no kind has frequencies,
/// the cores are the only one. Throws ScheduleError for a frequency that is invalid or is there twice, a kind
/// that also has weights without one, a task that cannot run at one of a kind's frequencies but at others,
/// and more than 4096 combinations.
std::vector<Platform> at_each_frequency(const Chain& chain, const Platform& cores);

/// The one of these platforms that has the kinds of cores that a schedule uses: the first where several do.
Platform at_frequencies(const Chain& chain, const Platform& cores, const Schedule& schedule);

/// The objective on one of these platforms: cores to leave free that are called "big" are those of the one
/// frequency that "big" cores have there.
Objective at_frequencies(Objective objective, const Platform& platform);

/// The Pareto front over several platforms, as pareto_front() has it for one: which platform, the kinds of a
/// point's cores say. Idle cores count on each platform by what they draw there. Throws as that does.
std::vector<ParetoPoint> pareto_front(const Chain& chain, const std::vector<Platform>& platforms,
                                      const CostModel& model);

}  // namespace tidemill
