#include "tidemill/scheduling/static/objective.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tidemill {
namespace {

constexpr std::array<std::string_view, 3> kPreferenceNames{"cores", "power", "stages"};

}  // namespace

Platform usable(const Platform& platform, const Objective& objective) {
    if (objective.wanted_period_us && !(*objective.wanted_period_us > 0))
        throw ScheduleError(fmt::format("objective: a wanted period of {} us; expected more than 0",
                                        *objective.wanted_period_us));
    Platform rest = platform;
    for (const auto& [kind, count] : objective.leave_free.kinds()) {
        if (count == 0) continue;
        const int there = platform.count(kind);
        if (there == 0)
            throw ScheduleError(fmt::format("objective: {} '{}' cores to leave free, but the cores are {}",
                                            count, kind, to_string(platform)));
        if (count < 0 || count > there)
            throw ScheduleError(
                fmt::format("objective: {} '{}' cores to leave free; expected 0 to {}", count, kind, there));
        rest.set(kind, there - count);
    }
    return rest;
}

std::string_view to_string(Preference preference) {
    return kPreferenceNames[static_cast<std::size_t>(preference)];
}

std::optional<Preference> parse_preference(std::string_view text) {
    const auto found = std::ranges::find(kPreferenceNames, text);
    if (found == kPreferenceNames.end()) return std::nullopt;
    return static_cast<Preference>(found - kPreferenceNames.begin());
}

}  // namespace tidemill
