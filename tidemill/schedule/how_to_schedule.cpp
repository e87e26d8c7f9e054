#include "tidemill/schedule/how_to_schedule.hpp"

#include <algorithm>

namespace tidemill {

const Strategy& HowToSchedule::chosen_strategy() const {
    return strategy ? *strategy : tidemill::strategy("herad");
}

Platform HowToSchedule::cores_for(const Profile& profile) const {
    const Platform platform = cores.value_or(profile.cores);
    int count = 0;
    for (const auto& [kind, of_kind] : platform.kinds()) {
        if (of_kind > 0) profile.kind_index(kind);
        count += of_kind;
    }
    if (count == 0) throw ScheduleError("no cores; give at least one, for instance \"big=1\"");
    return platform;
}

Objective HowToSchedule::objective_for(const Profile& profile) const {
    Objective wanted = objective;
    if (rate_hz) wanted.wanted_period_us = 1e6 * profile.frames_per_execution / *rate_hz;
    return wanted;
}

CostModel HowToSchedule::model_for(const Chain& chain) const {
    CostModel all = with_bytes_of(chain, model);
    for (const KindCosts& power : watts) {
        const auto found = std::ranges::find(all.kinds, power.kind, &KindCosts::kind);
        KindCosts& kind = found == all.kinds.end() ? all.kinds.emplace_back(power) : *found;
        kind.busy_w = power.busy_w;
        kind.idle_w = power.idle_w;
    }
    check(all, chain);
    return all;
}

Schedule schedule(const Profile& profile, const HowToSchedule& how) {
    return how.chosen_strategy().schedule(profile, how.cores_for(profile), how.objective_for(profile),
                                          how.model_for(profile));
}

}  // namespace tidemill
