#include "tidemill/scheduling/static/stages/greedy_stages.hpp"

#include <algorithm>

namespace tidemill::internal {

GreedyStage StageBuilder::stage(std::size_t begin, std::size_t kind, std::size_t available) const {
    if (available == 0) return {};
    GreedyStage stage = longest(begin, kind, available);
    const std::uint64_t sum = chain_.sum(kind, begin, stage.end);
    stage.fits = sum <= capacity({period_}, stage.cores);
    return stage;
}

GreedyStage StageBuilder::longest(std::size_t begin, std::size_t kind, std::size_t available) const {
    const std::size_t packed = pack(begin, kind, 1, chain_.size);
    if (!chain_.replicable(begin, packed)) return {packed, 1};
    const std::size_t run_end = chain_.run_end[packed];
    const std::size_t needed = cores_for(chain_.sum(kind, begin, run_end), available);
    if (needed > available) {
        const std::size_t end = pack(begin, kind, available, run_end);
        return {end, std::min(available, cores_for(chain_.sum(kind, begin, end), available))};
    }
    if (needed > 1 && run_end < chain_.size) {
        const std::size_t shorter = pack(begin, kind, needed - 1, run_end);
        const bool still_fits = chain_.sum(kind, begin, shorter) <= capacity({period_}, needed - 1);
        const bool rest_joins_next = chain_.sum(kind, shorter, run_end + 1) <= capacity({period_}, 1);
        if (still_fits && rest_joins_next) return {shorter, needed - 1};
    }
    return {run_end, needed};
}

// End of the longest stage on so many cores, at least one task long.
std::size_t StageBuilder::pack(std::size_t begin, std::size_t kind, std::size_t cores,
                               std::size_t most) const {
    const auto& prefix = chain_.kinds[kind].prefix;
    const std::uint64_t reach = prefix[begin] + capacity({period_}, cores);
    const auto first = prefix.begin() + static_cast<std::ptrdiff_t>(begin) + 2;
    const auto last = prefix.begin() + static_cast<std::ptrdiff_t>(most) + 1;
    if (first >= last) return begin + 1;
    return static_cast<std::size_t>(std::upper_bound(first, last, reach) - prefix.begin()) - 1;
}

// Cores that do a replicable sum within the period, or more than there are.
std::size_t StageBuilder::cores_for(std::uint64_t sum, std::size_t available) const {
    if (sum > capacity({period_}, available)) return available + 1;
    if (sum == 0) return 1;
    return static_cast<std::size_t>((Wide{sum} * period_.den + period_.num - 1) / period_.num);
}

namespace {

std::vector<std::size_t> core_counts(const ExactChain& chain) {
    std::vector<std::size_t> counts;
    for (const auto& kind : chain.kinds) counts.push_back(static_cast<std::size_t>(kind.cores));
    return counts;
}

}  // namespace

std::optional<Solution> last_kind_first(const ExactChain& chain, const Ratio& period) {
    const StageBuilder builder(chain, period);
    std::vector<std::size_t> left = core_counts(chain);
    Solution stages;
    for (std::size_t begin = 0; begin < chain.size;) {
        GreedyStage stage;
        std::size_t kind = left.size();
        while (!stage.fits && kind > 0) {
            --kind;
            stage = builder.stage(begin, kind, left[kind]);
        }
        if (!stage.fits) return std::nullopt;
        stages.push_back({begin, kind, stage.cores});
        left[kind] -= stage.cores;
        begin = stage.end;
    }
    return stages;
}

}  // namespace tidemill::internal
