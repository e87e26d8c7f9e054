#include "tidemill/schedule/how_to_schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

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

namespace {

// Beside kinds whose watts are known, a kind without them would count as free of charge.
void check_watts(const CostModel& model, const Platform& cores) {
    if (!model.has_power()) return;
    for (const auto& [kind, count] : cores.kinds()) {
        if (count > 0 && model.kind(kind).busy_w == 0)
            throw ScheduleError(
                fmt::format("watts: {} cores of kind '{}' have none and would count as free; add {}=BUSY",
                            count, kind, kind));
    }
}

}  // namespace

CostModel HowToSchedule::model_for(const Profile& profile) const {
    CostModel all = with_bytes_of(profile, model);
    for (const KindCosts& power : watts) {
        const auto found = std::ranges::find(all.kinds, power.kind, &KindCosts::kind);
        KindCosts& kind = found == all.kinds.end() ? all.kinds.emplace_back(power) : *found;
        kind.busy_w = power.busy_w;
        kind.idle_w = power.idle_w;
    }
    check(all, profile);
    check_watts(all, cores.value_or(profile.cores));
    return all;
}

Schedule schedule(const Profile& profile, const HowToSchedule& how) {
    return how.chosen_strategy().schedule(profile, how.cores_for(profile), how.objective_for(profile),
                                          how.model_for(profile));
}

}  // namespace tidemill
