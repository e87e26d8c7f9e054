#include "tidemill/scheduling/static/strategy.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/scheduling/static/greedy.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/packed.hpp"

namespace tidemill {
namespace {

using Greedy = Schedule (*)(const Chain&, const Platform&, const Objective&);

// The greedy strategies rely on what holds in the published model only: fewer tasks never cost more.
template <Greedy greedy>
Schedule published_model_only(const Chain& chain, const Platform& platform, const Objective& objective,
                              const CostModel& model) {
    check(model, chain);
    if (!model.has_published_periods())
        throw ScheduleError(
            "strategy: only herad, mixed and packed know costs, slowdowns and shared cores; use one of them, "
            "or no "
            "model");
    return greedy(chain, platform, objective);
}

Schedule otac_big(const Chain& chain, const Platform& platform, const Objective& objective) {
    return otac(chain, platform, "big", objective);
}

Schedule otac_little(const Chain& chain, const Platform& platform, const Objective& objective) {
    return otac(chain, platform, "little", objective);
}

Schedule mixed_stages(const Chain& chain, const Platform& platform, const Objective& objective,
                      const CostModel& model) {
    return mixed(chain, platform, objective, model);
}

Schedule packed_stages(const Chain& chain, const Platform& platform, const Objective& objective,
                       const CostModel& model) {
    return packed(chain, platform, objective, model);
}

// To add a strategy, add its line here.
constexpr std::array kStrategies{
    Strategy{"packed", "as mixed, where a thread may also own several stages, neighbours or not",
             packed_stages},
    Strategy{"mixed", "as herad, where a stage may also have cores of several kinds, which take turns",
             mixed_stages},
    Strategy{"herad", "optimal period, then fewest big cores, fewest little cores, fewest stages", herad},
    Strategy{"2catac", "greedy stages, the better of all kinds at each stage",
             published_model_only<two_catac>, false},
    Strategy{"fertac", "greedy stages, little cores first, big ones where those do not do",
             published_model_only<fertac>, false},
    Strategy{"otac-big", "greedy stages on big cores only", published_model_only<otac_big>, false},
    Strategy{"otac-little", "greedy stages on little cores only", published_model_only<otac_little>, false},
};

}  // namespace

std::span<const Strategy> strategies() {
    return kStrategies;
}

std::span<const Strategy> published_strategies() {
    constexpr std::size_t kOurs = 2;
    return std::span(kStrategies).subspan(kOurs);
}

const Strategy& strategy(std::string_view name) {
    const auto found = std::ranges::find(kStrategies, name, &Strategy::name);
    if (found != kStrategies.end()) return *found;
    std::string names;
    for (const auto& known : kStrategies) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    throw ScheduleError(fmt::format("strategy '{}' is not known; choose one of: {}", name, names));
}

}  // namespace tidemill
