#include "tidemill/scheduling/static/stages/latency_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tidemill::internal {

namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 27;  // 1 GiB

}  // namespace

LatencyTable::LatencyTable(const ExactChain& chain, Effort& effort, std::vector<std::uint64_t> batches)
    : chain_(chain), effort_(effort), batches_(std::move(batches)), strides_(chain.pools.size()) {
    for (std::size_t pool = chain.pools.size(); pool-- > 0;) {
        strides_[pool] = states_;
        states_ *= chain.pools[pool].units + 1;
        if (states_ > kMostCells / (chain.size + 1))
            throw ScheduleError(
                fmt::format("latency: {} tasks on so many cores need a table of more than {} numbers, which "
                            "is the bound; give fewer cores",
                            chain.size, kMostCells));
    }
    cells_.resize((chain.size + 1) * states_);
}

std::optional<TimedSolution> LatencyTable::least(const PeriodLimit& limit) {
    std::fill_n(cells_.begin(), states_, 0);
    for (std::size_t end = 1; end <= chain_.size; ++end) fill(end, steps_to(end, limit));
    if (at(chain_.size, states_ - 1) == kNone) return std::nullopt;
    return traced(limit);
}

// Longest first: of equal solutions the one with fewer stages is found.
auto LatencyTable::steps_to(std::size_t end, const PeriodLimit& limit) const -> std::vector<Step> {
    std::vector<Step> steps;
    for (std::size_t begin = 0; begin < end; ++begin)
        for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind)
            if (const auto found = step(kind, begin, end, limit)) steps.push_back(*found);
    return steps;
}

auto LatencyTable::step(std::size_t kind, std::size_t begin, std::size_t end, const PeriodLimit& limit) const
    -> std::optional<Step> {
    if (begin < chain_.able_begin(kind, end)) return std::nullopt;
    const ExactKind& own = chain_.kinds[kind];
    const std::uint64_t weight = chain_.weight(kind, begin, end);
    const std::uint64_t most =
        chain_.replicable(begin, end) ? chain_.pools[own.pool].units / own.share : std::uint64_t{1};
    const std::uint64_t cores = cores_for(weight, limit);
    if (cores > most || own.share > chain_.pools[own.pool].units) return std::nullopt;
    return Step{{begin, kind, static_cast<std::size_t>(cores)},
                own.pool,
                static_cast<std::size_t>(cores) * own.share,
                batches_.empty() ? weight : weight * batches_[kind]};
}

std::uint64_t LatencyTable::through(const Step& step, std::size_t state) const {
    if (units(state, step.pool) < step.units) return kNone;
    const std::uint64_t before = at(step.stage.begin, state - step.units * strides_[step.pool]);
    return before == kNone ? kNone : before + step.latency;
}

void LatencyTable::fill(std::size_t end, const std::vector<Step>& steps) {
    effort_.spend(steps.size() * states_);
    for (std::size_t state = 0; state < states_; ++state) {
        std::uint64_t least = kNone;
        for (const Step& step : steps) least = std::min(least, through(step, state));
        at(end, state) = least;
    }
}

std::size_t LatencyTable::fewest_units() const {
    std::size_t state = 0;
    while (at(chain_.size, state) != at(chain_.size, states_ - 1)) ++state;
    return state;
}

TimedSolution LatencyTable::traced(const PeriodLimit& limit) const {
    std::size_t state = fewest_units();
    TimedSolution found{{}, at(chain_.size, state)};
    for (std::size_t end = chain_.size; end > 0;) {
        const std::vector<Step> steps = steps_to(end, limit);
        const auto taken = std::ranges::find_if(
            steps, [&](const Step& step) { return through(step, state) == at(end, state); });
        found.stages.push_back(taken->stage);
        state -= taken->units * strides_[taken->pool];
        end = taken->stage.begin;
    }
    std::ranges::reverse(found.stages);
    return found;
}

}  // namespace tidemill::internal
