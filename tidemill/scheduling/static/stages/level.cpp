#include "tidemill/scheduling/static/stages/level.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace tidemill::internal {
namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 28;
constexpr std::size_t kMaxOptions = std::size_t{1} << 25;
constexpr std::uint64_t kStepsToPrepare = 100;  // for each weight
constexpr CoreCosts kStagesOnly{.counted_pool = CoreCosts::kNoPool, .per_unit = 0, .per_stage = 1};

// Units of the first pool cost more than any number of stages, so that one table settles both.
CoreCosts cores_then_stages(const ExactChain& chain) {
    return {.counted_pool = 0, .per_unit = chain.size + 1, .per_stage = 1};
}

// Keeps the table and the list of options, which grow with the cores, within about a gigabyte each.
ExactChain checked_size(ExactChain chain, std::size_t counted_pool) {
    Wide cells = chain.size + 1;
    for (std::size_t pool = 0; pool < chain.pools.size(); ++pool)
        if (pool != counted_pool)
            cells = std::min<Wide>(cells * (chain.pools[pool].units + 1), kMaxCells + 1);
    const Wide options = Wide{chain.size} * (chain.has_costs() ? chain.size : chain.total_cores());
    if (cells > kMaxCells || options > kMaxOptions)
        throw ScheduleError(
            fmt::format("herad: {} tasks on {} cores of {} kinds need too large a table; give fewer "
                        "cores or fewer kinds",
                        chain.size, chain.total_cores(), chain.pools.size()));
    return chain;
}

}  // namespace

bool is_better(const Candidate& a, const Candidate& b, Preference preference,
               const std::optional<Ratio>& wanted) {
    const auto key = [&](const Candidate& c) {
        const Ratio period = wanted ? std::max(*wanted, c.period) : c.period;
        const std::uint64_t first = preference == Preference::kLeastPower     ? c.power
                                    : preference == Preference::kFewestStages ? c.stages.size()
                                                                              : 0;
        return std::tuple(period, first, std::cref(c.units).get(), c.stages.size());
    };
    return key(a) < key(b);
}

Level::Level(const Chain& chain, const Platform& platform, const CostModel& model, Preference preference,
             Effort& effort, std::size_t most_letters)
    : preference_(preference),
      exact_(checked_size(exact_chain(chain, platform, model, most_letters),
                          preference == Preference::kFewestStages ? CoreCosts::kNoPool : 0)),
      power_(chain, exact_, model),
      options_(exact_, effort) {
    effort.spend(kStepsToPrepare * exact_.size * exact_.kinds.size());
}

std::optional<Candidate> Level::best(const std::optional<Ratio>& wanted) {
    const Ratio bound = options_.lower_bound();
    const auto period = least_period(exact_, options_, wanted ? std::max(bound, *wanted) : bound);
    if (!period) return std::nullopt;
    options_.find({wanted ? std::max(*period, *wanted) : *period});
    return candidate(preferred());
}

std::vector<Candidate> Level::pareto_front() {
    std::vector<Candidate> points;
    std::optional<Candidate> next = best(std::nullopt);
    while (next) {
        points.push_back(*std::move(next));
        next = points.back().power > cheapest_core() ? best_below(points.back()) : std::nullopt;
    }
    return points;
}

// The next point of the front, with less power and no less period.
std::optional<Candidate> Level::best_below(const Candidate& point) {
    const PowerLimit limit{power_, point.power - 1};
    const auto period = least_period(exact_, options_, point.period, &limit);
    if (!period) return std::nullopt;
    options_.find({*period});
    return candidate(preferred());
}

Solution Level::preferred() const {
    return preference_ == Preference::kFewestStages ? fewest_stages() : fewest_cores();
}

Solution Level::fewest_cores() const {
    const CoreCosts costs = cores_then_stages(exact_);
    return with_cells_for(costs.per_unit * (exact_.pools[0].units + 1), [&](auto cell) {
        CoreTable<decltype(cell)> table(exact_, costs);
        table.fill(options_);
        const auto key = [&](std::size_t state) {
            const bool counts = preference_ == Preference::kLeastPower;
            return std::pair(counts ? power_.of(exact_, table, state) : 0, table.units(0, state));
        };
        return table.solution(options_, best_state(table, key));
    });
}

Solution Level::fewest_stages() const {
    return with_cells_for(exact_.size + 1, [&](auto cell) {
        CoreTable<decltype(cell)> table(exact_, kStagesOnly);
        table.fill(options_);
        const auto key = [&](std::size_t state) { return table.cost(exact_.size, state); };
        return table.solution(options_, best_state(table, key));
    });
}

Candidate Level::candidate(Solution stages) const {
    Candidate result{std::move(stages), {}, 0, std::vector<std::size_t>(exact_.pools.size(), 0)};
    result.period = real_period(exact_, result.stages);
    for (const StageOption& stage : result.stages)
        stage.for_each_kind(exact_, [&](std::size_t kind, std::size_t cores) {
            result.units[exact_.kinds[kind].pool] += cores * exact_.kinds[kind].share;
        });
    for (std::size_t pool = 0; pool < exact_.pools.size(); ++pool)
        result.power += power_.per_core(pool) * exact_.pools[pool].cores(result.units[pool]);
    return result;
}

std::uint64_t Level::cheapest_core() const {
    std::uint64_t least = power_.per_core(0);
    for (std::size_t pool = 1; pool < exact_.pools.size(); ++pool)
        least = std::min(least, power_.per_core(pool));
    return least;
}

}  // namespace tidemill::internal
