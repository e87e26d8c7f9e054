#pragma once

#include <span>
#include <string_view>

#include "tidemill/schedule/schedule.hpp"

namespace tidemill {

/// A way to schedule a chain, by its published name.
struct Strategy {
    std::string_view name;
    std::string_view summary;
    Schedule (*schedule)(const Chain& chain, const Platform& platform);
};

/// All strategies, best first.
std::span<const Strategy> strategies();

/// The strategy of a name; throws ScheduleError listing the names that there are.
const Strategy& strategy(std::string_view name);

}  // namespace tidemill
