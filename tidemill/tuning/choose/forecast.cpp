#include "tidemill/tuning/choose/forecast.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tidemill {

namespace {

// Nobody forecasts better, whatever was weighed: `tidemill bench forecast`.
constexpr double kFaster = 0.04;
constexpr double kSlower = 0.07;

Profile moved(Profile profile, double errors) {
    for (ChainTask& task : profile.tasks) {
        for (std::size_t kind = 0; kind < task.spread.size(); ++kind)
            task.weight_us[kind] = std::max(0.0, task.weight_us[kind] + errors * task.spread[kind].error_us);
    }
    return profile;
}

}  // namespace

Forecast forecast(const Schedule& schedule, const Profile& profile, const CostModel& model) {
    return {period_us(schedule, profile, model),
            (1 - kFaster) * period_us(schedule, moved(profile, -2), model),
            (1 + kSlower) * period_us(schedule, moved(profile, 2), model)};
}

std::string in_words(const Forecast& forecast, double real_us) {
    return fmt::format("predicted {:.2f} ({:.2f} to {:.2f}), real {:.2f}", forecast.period_us,
                       forecast.least_us, forecast.most_us, real_us);
}

}  // namespace tidemill
