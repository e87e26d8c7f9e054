#pragma once

#include <optional>
#include <string_view>

#include "tidemill/scheduling/static/chain.hpp"

namespace tidemill {

/// Tie-breaker between schedules of equal period: the published rule (fewest cores of the first kind, then of
/// the next and so on), the least power, or the fewest stages; the rules that are left decide what is still
/// equal.
enum class Preference { kFewestCores, kLeastPower, kFewestStages };

/// Goal of a schedule: the least period or, where one is wanted, any period up to that; among equals the
/// preference. Cores to leave free are not used at all.
struct Objective {
    Preference among_equals = Preference::kFewestCores;
    std::optional<double> wanted_period_us{};
    Platform leave_free{};

    bool operator==(const Objective&) const = default;
};

/// The cores that an objective leaves to a schedule; throws ScheduleError when it leaves more free than there
/// are, and when it wants a period that is not above 0.
Platform usable(const Platform& platform, const Objective& objective);

/// "cores", "power", "stages".
std::string_view to_string(Preference preference);

/// Inverse of to_string(Preference); nothing for any other text.
std::optional<Preference> parse_preference(std::string_view text);

}  // namespace tidemill
