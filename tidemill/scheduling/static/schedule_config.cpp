#include "tidemill/scheduling/static/schedule_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/scheduling/static/frequencies.hpp"

namespace tidemill {

const Strategy& ScheduleConfig::chosen_strategy() const {
    return strategy ? *strategy : tidemill::strategy("herad");
}

namespace {

Platform weighed(const Platform& platform, const Profile& profile) {
    int count = 0;
    for (const auto& [kind, of_kind] : platform.kinds()) {
        if (of_kind > 0) profile.kind_index(kind);
        count += of_kind;
    }
    if (count == 0) throw ScheduleError("no cores; give at least one, for instance \"big=1\"");
    return platform;
}

}  // namespace

Platform ScheduleConfig::cores_for(const Profile& profile) const {
    return weighed(cores.value_or(profile.cores), profile);
}

std::vector<Platform> ScheduleConfig::platforms_for(const Profile& profile) const {
    std::vector<Platform> platforms = at_each_frequency(profile, cores.value_or(profile.cores));
    for (const Platform& platform : platforms) weighed(platform, profile);
    return platforms;
}

Objective ScheduleConfig::objective_for(const Profile& profile) const {
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

CostModel ScheduleConfig::model_for(const Profile& profile) const {
    CostModel all = with_bytes_of(profile, model);
    for (const KindCosts& power : watts) {
        const auto found = std::ranges::find(all.kinds, power.kind, &KindCosts::kind);
        KindCosts& kind = found == all.kinds.end() ? all.kinds.emplace_back(power) : *found;
        kind.busy_w = power.busy_w;
        kind.idle_w = power.idle_w;
    }
    check(all, profile);
    for (const Platform& platform : at_each_frequency(profile, cores.value_or(profile.cores)))
        check_watts(all, platform);
    return all;
}

Platform at_least_used(Platform cores, const Schedule& schedule) {
    for (const auto& [kind, count] : cores_used(schedule))
        cores.set(kind, std::max(count, cores.count(kind)));
    return cores;
}

Schedule schedule(const Profile& profile, const ScheduleConfig& how) {
    return how.chosen_strategy().schedule(profile, how.cores_for(profile), how.objective_for(profile),
                                          how.model_for(profile));
}

}  // namespace tidemill
