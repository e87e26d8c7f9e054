#pragma once

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// The optimal schedule: least period; among equals fewest cores of the platform's first kind, then of the
/// second and so on (big, little, others), then fewest stages; or what another objective asks for. Exact in
/// integers, for any number of kinds and any model. A wanted period that no schedule reaches is answered with
/// the least there is; one that many reach, with the least that the chosen cores can do (unless few stages
/// matter more). Throws ScheduleError for chains, platforms or models it cannot use. Named after the
/// published strategy, whose dynamic programme it replaces by tests of single periods: README.md says how.
Schedule herad(const Chain& chain, const Platform& platform, const Objective& objective = {},
               const CostModel& model = {});

/// The optimum when a stage of replicable tasks may also have cores of several kinds, whose threads take
/// turns by a word of at most so many letters (CyclicWord): as herad(), among more schedules. Its mixed
/// stages have whole cores, no devices, and of equal schedules the plain one is taken. Throws as herad(), for
/// more than eight kinds of cores, and for weights that add up to more than 2^58 units.
Schedule mixed(const Chain& chain, const Platform& platform, const Objective& objective = {},
               const CostModel& model = {}, std::size_t most_letters = kMostLetters);

/// A schedule that is faster than any of less or equal power.
struct ParetoPoint {
    Schedule schedule;
    double period_us = 0;
    double power_w = 0;

    bool operator==(const ParetoPoint&) const = default;
};

/// The Pareto front: the whole trade between period and power, fastest first: each point has the least period
/// of its power and the least power of its period. Throws ScheduleError as herad() does, and when the model
/// knows no power.
std::vector<ParetoPoint> pareto_front(const Chain& chain, const Platform& platform, const CostModel& model);

}  // namespace tidemill
