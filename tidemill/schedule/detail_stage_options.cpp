#include "tidemill/schedule/detail_stage_options.hpp"

#include <algorithm>
#include <limits>

namespace tidemill::detail {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// The fewest cores that do the weight within the period; one for no weight.
std::uint64_t cores_for(std::uint64_t weight, const Ratio& period) {
    if (weight == 0) return 1;
    if (period.num == 0) return kNone;
    const Wide cores = (Wide{weight} * period.den + period.num - 1) / period.num;
    return cores < kNone ? static_cast<std::uint64_t>(cores) : kNone;
}

}  // namespace

StageOptions::StageOptions(const ExactChain& chain)
    : chain_(chain),
      work_(chain),
      first_(chain.size + 1, 0),
      begins_(chain.kinds.size()),
      others_(chain.kinds.size()) {
    options_.reserve(4 * chain.size);
}

void StageOptions::find(const Ratio& period, Count count) {
    if (period_ == period && count_ == count) return;
    period_ = period;
    count_ = count;
    budget_ = capacity(period, work_.capacity());
    next_budget_ = kNone;
    next_.reset();
    options_.clear();
    capacities_.clear();
    next_sums_.clear();
    for (auto& begins : begins_) begins.clear();
    for (auto& others : others_) others.clear();
    for (std::size_t end = 1; end <= chain_.size; ++end) {
        for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind)
            chain_.has_costs() ? find_all(end, kind) : find_longest(end, kind);
        first_[end] = options_.size();
    }
}

void StageOptions::find_longest(std::size_t end, std::size_t kind) {
    const std::uint64_t* prefix = chain_.kinds[kind].prefix.data();
    const auto max_cores = static_cast<std::size_t>(chain_.kinds[kind].cores);
    const std::size_t run_begin = chain_.run_begin[end];
    auto& begins = begins_[kind];
    std::size_t shortest = end;
    for (std::size_t cores = 1; cores <= max_cores; ++cores) {
        const std::size_t first_allowed = cores == 1 ? 0 : run_begin;
        const std::uint64_t reach = capacity_of(cores);
        if (begins.size() < cores) begins.push_back(0);
        std::size_t begin = std::max(begins[cores - 1], first_allowed);
        while (prefix[end] - prefix[begin] > reach) ++begin;
        begins[cores - 1] = begin;

        if (begin > first_allowed)
            next_sums_[cores - 1] = std::min(next_sums_[cores - 1], prefix[end] - prefix[begin - 1]);
        if (begin < shortest && !(count_ == Count::cores && splits(begin, kind, cores)))
            offer(begin, end, kind, cores);
        shortest = std::min(shortest, begin);
        if (begin <= run_begin) return;  // more cores only help inside a replicable run
        if (wastes_too_much(begin, end, kind)) return;
    }
}

// Whether the longest last part on some of the cores leaves a first part that the others can do.
bool StageOptions::splits(std::size_t begin, std::size_t kind, std::size_t cores) const {
    const std::uint64_t* prefix = chain_.kinds[kind].prefix.data();
    for (std::size_t last = 1; last < cores; ++last)
        if (prefix[begins_[kind][last - 1]] - prefix[begin] <= capacities_[cores - last - 1]) return true;
    return false;
}

void StageOptions::find_all(std::size_t end, std::size_t kind) {
    const auto max_cores = static_cast<std::uint64_t>(chain_.kinds[kind].cores);
    for (std::size_t begin = end; begin-- > 0;) {
        const std::uint64_t most = chain_.replicable(begin, end) ? max_cores : 1;
        const std::uint64_t without_cuts = chain_.sum(kind, begin, end) + chain_.stage_cost;
        if (without_cuts > capacity(*period_, most)) return may_fit_at({without_cuts, most});
        if (wastes_too_much(begin, end, kind)) return;
        const std::uint64_t weight = chain_.weight(kind, begin, end);
        const std::uint64_t cores = cores_for(weight, *period_);
        if (cores <= most) offer(begin, end, kind, cores);
        const std::uint64_t fewer = std::min(cores - 1, most);
        if (fewer > 0) may_fit_at({weight, fewer});
    }
}

// A longer stage on this kind wastes no less: tasks that are cheaper elsewhere stay so.
bool StageOptions::wastes_too_much(std::size_t begin, std::size_t end, std::size_t kind) {
    const std::uint64_t price = work_.price(kind) * chain_.sum(kind, begin, end);
    const std::uint64_t needed = work_.all_work() - work_.work(begin, end) + price;
    if (needed <= budget_) return false;
    next_budget_ = std::min(next_budget_, needed);
    return true;
}

// Unless the rest of the work is more than the other cores can do.
void StageOptions::offer(std::size_t begin, std::size_t end, std::size_t kind, std::size_t cores) {
    auto& others = others_[kind];
    while (others.size() < cores)
        others.push_back(capacity(*period_, work_.capacity() - work_.price(kind) * (others.size() + 1)));
    if (work_.all_work() - work_.work(begin, end) <= others[cores - 1])
        options_.push_back({begin, kind, cores});
}

std::uint64_t StageOptions::capacity_of(std::size_t cores) {
    if (capacities_.size() < cores) {
        capacities_.push_back(capacity(*period_, cores));
        next_sums_.push_back(kNone);
    }
    return capacities_[cores - 1];
}

void StageOptions::may_fit_at(const Ratio& period) {
    if (!next_ || period < *next_) next_ = period;
}

std::optional<Ratio> StageOptions::next_period() const {
    std::optional<Ratio> next = next_;
    if (next_budget_ != kNone) {
        const Ratio candidate{next_budget_, work_.capacity()};
        if (!next || candidate < *next) next = candidate;
    }
    for (std::size_t i = 0; i < next_sums_.size(); ++i) {
        const Ratio candidate{next_sums_[i], i + 1};
        if (next_sums_[i] != kNone && (!next || candidate < *next)) next = candidate;
    }
    return next;
}

}  // namespace tidemill::detail
