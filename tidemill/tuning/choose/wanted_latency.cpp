#include "tidemill/tuning/choose/wanted_latency.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tidemill/scheduling/static/frame_alone.hpp"
#include "tidemill/scheduling/static/latency.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill::internal {

std::optional<Schedule> schedule_within_latency(const Profile& profile, const RunConfig& how,
                                                std::vector<std::string>& warnings) {
    constexpr double kLongestUs = 1e12;
    const ScheduleConfig& wanted = how.scheduling;
    const Objective objective = wanted.objective_for(profile);
    const bool has_devices =
        std::ranges::any_of(profile.kinds, [&](const std::string& kind) { return profile.is_device(kind); });
    const bool is_optimum = wanted.chosen_strategy().name == "herad" && !objective.wanted_period_us;
    if (!how.latency_us || !is_optimum || has_devices) return std::nullopt;
    try {
        return within_latency(std::min(kLongestUs, *how.latency_us), profile, wanted.cores_for(profile),
                              objective, wanted.model_for(profile))
            .schedule;
    } catch (const ScheduleError& error) {
        warnings.push_back(fmt::format("the schedule is not made for the wanted latency: {}", error.what()));
        return std::nullopt;
    }
}

void limit_in_flight(Schedule& schedule, const Profile& profile, const RunConfig& how,
                     std::vector<std::string>& warnings) {
    if (!how.latency_us) return;
    constexpr double kMost = 1 << 20;  // more memory than any frame is worth
    const CostModel model = how.scheduling.model_for(profile);
    schedule.frames_in_flight.reset();
    const double period = period_us(schedule, profile, model);
    const double most = period > 0 ? std::floor(*how.latency_us / period) : kMost;
    schedule.frames_in_flight = static_cast<int>(std::clamp(most, 1.0, kMost));
    schedule.period_us = period_us(schedule, profile, model);
    const double least_us = frame_alone(schedule, profile, model).us;
    if (least_us > *how.latency_us)
        warnings.push_back(fmt::format("the least latency of this schedule is {:.2f} us", least_us));
}

}  // namespace tidemill::internal
