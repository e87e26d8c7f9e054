#include "tidemill/schedule/strategy.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/schedule/greedy.hpp"
#include "tidemill/schedule/herad.hpp"

namespace tidemill {
namespace {

// To add a strategy, add its line here.
constexpr std::array kStrategies{
    Strategy{"herad", "optimal period, then fewest big cores, fewest little cores, fewest stages", herad},
    Strategy{"2catac", "greedy stages, the better of all kinds at each stage", two_catac},
    Strategy{"fertac", "greedy stages, little cores first, big ones where those do not do", fertac},
    Strategy{"otac-big", "greedy stages on big cores only",
             [](const Chain& chain, const Platform& platform) { return otac(chain, platform, "big"); }},
    Strategy{"otac-little", "greedy stages on little cores only",
             [](const Chain& chain, const Platform& platform) { return otac(chain, platform, "little"); }},
};

}  // namespace

std::span<const Strategy> strategies() {
    return kStrategies;
}

const Strategy& strategy(std::string_view name) {
    const auto found = std::ranges::find(kStrategies, name, &Strategy::name);
    if (found != kStrategies.end()) return *found;
    std::string names;
    for (const auto& known : kStrategies) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    throw ScheduleError(fmt::format("strategy '{}' is not known; choose one of: {}", name, names));
}

}  // namespace tidemill
