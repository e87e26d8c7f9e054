#pragma once

#include <optional>
#include <vector>

#include "tidemill/scheduling/static/cost_model.hpp"
#include "tidemill/scheduling/static/objective.hpp"
#include "tidemill/scheduling/static/schedule.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace tidemill {

/// How a schedule is to be made, as values.
struct ScheduleConfig {
    const Strategy* strategy = nullptr;  ///< null: herad
    Objective objective{};
    std::optional<double>
        rate_hz{};  ///< wanted source frames a second; the objective's period follows from it
    CostModel model{};
    std::vector<KindCosts> watts{};   ///< of kinds of cores, instead of the model's
    std::optional<Platform> cores{};  ///< none: those that the profile names

    const Strategy& chosen_strategy() const;

    // The following functions give the part of these wishes that holds for a chain. Each throws ScheduleError
    // when they do not fit it.

    Platform cores_for(const Profile& profile) const;
    /// The same where the profile weighs kinds at several frequencies: one for each combination of them.
    std::vector<Platform> platforms_for(const Profile& profile) const;
    Objective objective_for(const Profile& profile) const;
    CostModel model_for(const Profile& profile) const;
};

/// The cores, and more of each kind where a schedule uses more than there are.
Platform at_least_used(Platform cores, const Schedule& schedule);

/// The schedule that is wanted; throws ScheduleError when the wishes do not fit the profile.
Schedule schedule(const Profile& profile, const ScheduleConfig& how);

}  // namespace tidemill
