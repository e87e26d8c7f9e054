#pragma once

#include <optional>
#include <string>

#include "tidemill/scheduling/static/chain.hpp"
#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill {

/// Bound for a platform's cores at best.
struct Bound {
    double period_us = 0;
    std::optional<std::string> sequential_task{};  ///< the one that keeps the period from being less
};

/// The least period in which the platform's cores can do a chain's work, under any scheduler: the frames of
/// each task are split freely over the kinds, order costs nothing, frames overlap; only cores × period is
/// limited for each kind, and a task that is not replicable works on one frame at a time. Of a model only
/// slowdowns and shared cores count, since other costs are those of stages. A linear programme, solved to
/// 1e-11. Throws ScheduleError when the platform has no cores, one of a kind that the chain does not weigh,
/// or none that a task runs on.
Bound bound_of(const Chain& chain, const Platform& platform, const CostModel& model = {});

/// How far from the bound a period is, and why.
struct DistanceToBound {
    double period_us = 0;
    double bound_us = 0;
    std::string between{};  ///< what stands between them, or what the bound rests on, in one sentence
    /// Period of mixed() stages, where that is shorter than the period and a shorter one is wanted; nothing
    /// where mixed() refuses the numbers, and for more than a thousand tasks, which would take it seconds.
    std::optional<double> stages_us{};

    /// 0 where the bound is reached.
    double percent() const;

    /// "bound 2580.33 us: the period is 11.2 % above it; 1 big core idles 20 %: ...", and in another line
    /// what stages could do.
    std::string line() const;
};

/// The distance of a schedule whose stages take `period_us` per execution, predicted or measured, from what
/// the platform's cores could do. Where a longer period was wanted the sentence says so. Throws as
/// bound_of().
DistanceToBound distance_to_bound(const Schedule& schedule, const Chain& chain, const Platform& platform,
                                  const CostModel& model, double period_us,
                                  std::optional<double> wanted_period_us = {});

}  // namespace tidemill
