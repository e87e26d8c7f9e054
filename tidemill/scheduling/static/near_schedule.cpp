#include "tidemill/scheduling/static/near_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tidemill/scheduling/static/cluster_placement.hpp"

namespace tidemill {

namespace {

// Cores of the largest clusters of a kind, so many.
int cores_of_clusters(const FarCuts& far, std::size_t count) {
    std::vector<std::size_t> sizes;
    for (const std::vector<int>& cluster : far.clusters) sizes.push_back(cluster.size());
    std::ranges::sort(sizes, std::greater());
    std::size_t sum = 0;
    for (std::size_t i = 0; i < std::min(count, sizes.size()); ++i) sum += sizes[i];
    return static_cast<int>(sum);
}

// One cluster of each kind, two, four, ..., and at last all cores.
std::vector<Platform> platforms_of(const Platform& cores, const CostModel& model) {
    std::vector<Platform> platforms;
    std::size_t most = 1;
    for (const FarCuts& far : model.far_cuts) most = std::max(most, far.clusters.size());
    for (std::size_t count = 1; count < most; count *= 2) {
        Platform some = cores;
        for (const FarCuts& far : model.far_cuts)
            if (cores.count(far.kind) > 0)
                some.set(far.kind, std::min(cores.count(far.kind), cores_of_clusters(far, count)));
        if (some != cores) platforms.push_back(some);
    }
    platforms.push_back(cores);
    return platforms;
}

// Strategies take exact decimals, which a sum of two need not be: 0.1 + 0.2.
double sum_in_whole_ps(double a_us, double b_us) {
    return std::round(1e6 * (a_us + b_us)) / 1e6;
}

CostModel with_far_cuts_everywhere(CostModel model) {
    double hop_us = 0;
    double byte_us = 0;
    for (const FarCuts& far : model.far_cuts) {
        hop_us = std::max(hop_us, far.hop_us);
        byte_us = std::max(byte_us, far.byte_us);
    }
    model.hop_us = sum_in_whole_ps(model.hop_us, hop_us);
    model.byte_us = sum_in_whole_ps(model.byte_us, byte_us);
    return model;
}

Schedule shortest(const Chain& chain, const CostModel& model, const std::vector<Platform>& platforms,
                  const std::vector<CostModel>& prices, const MakeSchedule& make) {
    std::optional<Schedule> best;
    std::vector<std::vector<Stage>> known;  // often the same
    for (const Platform& cores : platforms) {
        for (const CostModel& price : prices) {
            Schedule made = make(cores, price);
            if (std::ranges::find(known, made.stages) != known.end()) continue;
            known.push_back(made.stages);
            place_in_clusters(made, chain, model);
            made.period_us = period_us(made, chain, model);
            if (!best || *made.period_us < *best->period_us) best = std::move(made);
        }
    }
    return *std::move(best);
}

}  // namespace

Schedule near_schedule(const Chain& chain, const Platform& cores, const CostModel& model,
                       const MakeSchedule& make) {
    if (model.far_cuts.empty()) return make(cores, model);
    return shortest(chain, model, platforms_of(cores, model), {model, with_far_cuts_everywhere(model)}, make);
}

// Cores that are left free are no cluster's in particular.
Schedule near_schedule(const Strategy& strategy, const Chain& chain, const Platform& platform,
                       const Objective& objective, const CostModel& model) {
    if (model.far_cuts.empty()) return strategy.schedule(chain, platform, objective, model);
    const Platform cores = usable(platform, objective);
    Objective wanted = objective;
    wanted.leave_free = {};
    const bool is_for_speed = !wanted.wanted_period_us && wanted.among_equals != Preference::kLeastPower;
    const auto make = [&](const Platform& some, const CostModel& price) {
        return strategy.schedule(chain, some, wanted, price);
    };
    std::vector<CostModel> prices{model};
    if (strategy.knows_costs && is_for_speed) prices.push_back(with_far_cuts_everywhere(model));
    return shortest(chain, model, is_for_speed ? platforms_of(cores, model) : std::vector{cores}, prices,
                    make);
}

}  // namespace tidemill
