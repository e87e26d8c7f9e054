#include "tidemill/scheduling/static/stages/stage_options.hpp"

#include <algorithm>

namespace tidemill::internal {
namespace {

constexpr std::uint64_t kStepsForWords = 100;  // as much as a look at all lengths of words takes

}  // namespace

StageOptions::StageOptions(const ExactChain& chain, Effort& effort)
    : chain_(chain),
      effort_(effort),
      work_(chain),
      losses_(chain.kinds.size()),
      mixed_(chain),
      first_(chain.size + 1, 0) {
    options_.reserve(4 * chain.size);
    for (std::size_t kind = 0; kind < chain.kinds.size(); ++kind) {
        losses_[kind].push_back(0);
        for (std::size_t i = 0; i < chain.size; ++i)
            losses_[kind].push_back(losses_[kind].back() + loss(kind, i));
    }
}

// Extra cost of a task on a kind over where it is cheapest; stages do not reach across those that cannot run
// there.
std::uint64_t StageOptions::loss(std::size_t kind, std::size_t task) const {
    if (!chain_.runs(kind, task)) return 0;
    return work_.price(kind) * chain_.sum(kind, task, task + 1) - work_.work(task, task + 1);
}

void StageOptions::find(const PeriodLimit& limit, Count count) {
    if (limit_ == limit && count_ == count) return;
    limit_ = limit;
    count_ = count;
    spare_ = Wide{limit.period.num} * work_.capacity() - Wide{limit.period.den} * work_.all_work();
    const std::uint64_t loss = capacity({limit.period}, work_.capacity()) - work_.all_work();
    kinds_.clear();
    for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind) {
        const auto& prefix = chain_.kinds[kind].prefix;
        const auto cores = static_cast<std::uint64_t>(chain_.kinds[kind].cores);
        kinds_.push_back({.on_one_core = {prefix, capacity(limit, 1)},
                          .on_all_cores = {prefix, capacity(limit, cores)},
                          .affordable = {losses_[kind], loss}});
    }
    mixed_.set_limit(limit);
    options_.clear();
    for (std::size_t end = 1; end <= chain_.size; ++end) {
        for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind)
            chain_.has_costs() ? find_all(end, kind) : find_longest(end, kind);
        if (mixed_.any()) find_mixed(end);
        first_[end] = options_.size();
    }
}

void StageOptions::find_longest(std::size_t end, std::size_t kind) {
    const std::size_t able = chain_.able_begin(kind, end);
    const std::size_t begin = std::max(able, kinds_[kind].on_one_core.begin(end));
    if (begin < end) offer(begin, end, kind, 1);
    const std::size_t lowest = std::max({able, chain_.run_begin[end], kinds_[kind].on_all_cores.begin(end),
                                         kinds_[kind].affordable.begin(end)});
    if (lowest < begin) find_replicated(lowest, begin, end, kind);
}

// Stages that begin before the longest one on one core. A stage that leaves more of its cores' time idle than
// a shorter one with the same end can be parted into that one and a rest that fits the other cores.
void StageOptions::find_replicated(std::size_t lowest, std::size_t begin, std::size_t end, std::size_t kind) {
    const Ratio period = limit_->period;
    const std::uint64_t margin = limit_->below ? 1 : 0;
    const Place* places = places_up_to(end, kind);
    const std::uint64_t end_rest = places[end].rest + margin;
    const bool all = count_ == Count::stages;
    std::uint64_t most_idle =
        all ? period.num : period.num - chain_.sum(kind, begin, end) * period.den - margin;
    const std::size_t first_option = options_.size();
    for_each_begin(lowest, begin, end, kind, [&](std::size_t from) {
        // The difference's sign instead of a branch, which nobody could predict.
        const std::uint64_t over = places[from].rest - end_rest;
        const std::uint64_t begun = over >> 63;
        const std::uint64_t idle = over + (period.num & (0 - begun));
        if (idle > most_idle) return;
        if (!all) most_idle = idle;
        const std::uint64_t cores = places[end].periods - places[from].periods + begun;
        if (options_.size() > first_option && options_.back().cores == cores)
            options_.back().begin = static_cast<std::uint32_t>(from);
        else
            offer(from, end, kind, cores);
    });
}

// All begins from the last one down to the lowest, or, where those are many, only the lowest for each number
// of cores: of all on so many cores it is the longest and leaves the least idle, so it alone decides.
template <class Use>
void StageOptions::for_each_begin(std::size_t lowest, std::size_t begin, std::size_t end, std::size_t kind,
                                  Use use) {
    if (begin - lowest <= static_cast<std::size_t>(chain_.kinds[kind].cores)) {
        while (begin-- > lowest) use(begin);
        return;
    }
    for (Reach& reach : reaches(kind)) {
        const std::size_t longest = std::max(lowest, reach.begin(end));
        if (longest < begin) use(longest);
        begin = std::min(begin, longest);
        if (begin == lowest) return;
    }
}

std::vector<Reach>& StageOptions::reaches(std::size_t kind) {
    std::vector<Reach>& reaches = kinds_[kind].on_cores;
    const auto cores = static_cast<std::uint64_t>(chain_.kinds[kind].cores);
    for (std::uint64_t count = reaches.size() + 2; count <= cores; ++count)
        reaches.emplace_back(chain_.kinds[kind].prefix, capacity(*limit_, count));
    return reaches;
}

void StageOptions::find_all(std::size_t end, std::size_t kind) {
    const auto all_cores = static_cast<std::uint64_t>(chain_.kinds[kind].cores);
    const std::size_t lowest = std::max(chain_.able_begin(kind, end), kinds_[kind].affordable.begin(end));
    for (std::size_t begin = end; begin-- > lowest;) {
        const std::uint64_t most = chain_.replicable(begin, end) ? all_cores : 1;
        if (chain_.sum(kind, begin, end) + chain_.stage_cost > capacity(*limit_, most)) return;
        const std::uint64_t cores = cores_for(chain_.weight(kind, begin, end), *limit_);
        if (cores <= most) offer(begin, end, kind, cores);
    }
}

// A mixed stage loses on each task at least what its better kind loses.
std::size_t StageOptions::lowest_mixed(std::size_t end) {
    std::size_t lowest = end;
    for (const CorePool& pool : chain_.pools)
        if (pool.mixes)
            lowest = std::min(lowest, std::max(chain_.able_begin(pool.whole, end),
                                               kinds_[pool.whole].affordable.begin(end)));
    return std::max(lowest, chain_.run_begin[end]);
}

void StageOptions::find_mixed(std::size_t end) {
    const std::size_t lowest = lowest_mixed(end);
    shorter_.clear();
    for (std::size_t begin = end; begin-- > lowest;) {
        const bool possible = mixed_.find(begin, end);
        effort_.spend(kStepsForWords * mixed_.steps());
        if (possible) offer_mixed(begin, end);
        // Without costs a longer stage only weighs more.
        if (!possible && !chain_.has_costs()) return;
    }
}

// Where nothing has costs, only the longest stage on the same cores matters. That is the last one of those
// for which no fewer cores do, as these follow each other: what does a stage does a shorter one, too.
void StageOptions::offer_mixed(std::size_t begin, std::size_t end) {
    offered_.clear();
    for (const MixedCores cores : mixed_.found()) {
        const auto shorter = std::ranges::find(shorter_, cores.packed(),
                                               [&](std::size_t place) { return options_[place].cores; });
        if (!chain_.has_costs() && shorter != shorter_.end()) {
            options_[*shorter].begin = static_cast<std::uint32_t>(begin);
            offered_.push_back(*shorter);
        } else if (offer(begin, end, StageOption::kMixed, cores.packed())) {
            offered_.push_back(options_.size() - 1);
        }
    }
    std::swap(shorter_, offered_);
}

// Unless its cores are worth more beyond the work that it does than all cores are beyond all work.
bool StageOptions::offer(std::size_t begin, std::size_t end, std::size_t kind, std::size_t cores) {
    const Ratio& period = limit_->period;
    const StageOption option{begin, kind, cores};
    std::uint64_t price = 0;
    option.for_each_kind(chain_,
                         [&](std::size_t of, std::size_t count) { price += work_.price(of) * count; });
    const Wide worth = Wide{period.num} * price;
    if (worth - Wide{period.den} * work_.work(begin, end) > spare_) return false;
    options_.push_back(option);
    return true;
}

const StageOptions::Place* StageOptions::places_up_to(std::size_t end, std::size_t kind) {
    auto& places = kinds_[kind].places;
    const auto& [num, den] = limit_->period;
    while (places.size() <= end) {
        const auto [periods, rest] = divided(Wide{chain_.sum(kind, 0, places.size())} * den, num);
        places.push_back({static_cast<std::uint64_t>(periods), rest});
    }
    return places.data();
}

}  // namespace tidemill::internal
