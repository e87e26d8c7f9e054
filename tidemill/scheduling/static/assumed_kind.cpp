#include "tidemill/scheduling/static/assumed_kind.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

namespace {

void check_is_new(const Profile& profile, std::string_view kind, std::string_view like, double times) {
    if (kind.empty()) throw ScheduleError("a core kind without a name; give one, for instance \"little\"");
    if (std::ranges::find(profile.kinds, kind) != profile.kinds.end())
        throw ScheduleError(
            fmt::format("core kind '{}' has weights already; give a kind that was not measured", kind));
    if (profile.is_device(like))
        throw ScheduleError(
            fmt::format("'{}' is a device, whose weights are of batches; name a kind of cores", like));
    if (!(times > 0) || !std::isfinite(times))
        throw ScheduleError(fmt::format(
            "core kind '{}' takes {} times as long as '{}': give a number above 0", kind, times, like));
}

// To whole nanoseconds: a product has more decimals than exact scheduling takes.
double product_us(double weight_us, double times) {
    return std::round(weight_us * times * 1e3) / 1e3;
}

std::string told(std::string_view kind, std::string_view like, double times) {
    const std::string factor = times == 1 ? "" : fmt::format("{} times ", times);
    return fmt::format("core kind '{}' was not measured: its weights are {}those of '{}'", kind, factor,
                       like);
}

}  // namespace

Profile with_kind(Profile profile, std::string_view kind, std::string_view like, double times) {
    const std::size_t from = profile.kind_index(like);
    check_is_new(profile, kind, like, times);
    for (ChainTask& task : profile.tasks) {
        task.weight_us.push_back(product_us(task.weight_us[from], times));
        if (task.spread.empty()) continue;
        const WeightSpread& spread = task.spread[from];
        task.spread.push_back({times * spread.error_us, times * spread.p99_us, times * spread.once_us});
    }
    profile.warnings.push_back(told(kind, like, times));
    profile.kinds.emplace_back(kind);
    return profile;
}

Profile with_kinds_of(Profile profile, const Platform& platform) {
    if (profile.kinds.size() != 1 || profile.is_device(profile.kinds.front())) return profile;
    const std::string like = profile.kinds.front();
    for (const auto& [kind, count] : platform.kinds())
        if (count > 0 && kind != like) profile = with_kind(std::move(profile), kind, like, 1);
    return profile;
}

}  // namespace tidemill
