#include "tidemill/schedule/detail_stage_options.hpp"

#include <algorithm>
#include <limits>

namespace tidemill::detail {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

}  // namespace

StageOptions::StageOptions(const ExactChain& chain)
    : chain_(chain), first_(chain.size + 1, 0), begins_(chain.kinds.size()) {
    options_.reserve(4 * chain.size);
}

void StageOptions::find(const Ratio& period) {
    if (period_ == period) return;
    period_ = period;
    options_.clear();
    capacities_.clear();
    next_sums_.clear();
    for (auto& begins : begins_) begins.clear();
    for (std::size_t end = 1; end <= chain_.size; ++end) {
        for (std::size_t kind = 0; kind < chain_.kinds.size(); ++kind) find_ending_at(end, kind);
        first_[end] = options_.size();
    }
}

void StageOptions::find_ending_at(std::size_t end, std::size_t kind) {
    const auto& prefix = chain_.kinds[kind].prefix;
    const auto max_cores = static_cast<std::size_t>(chain_.kinds[kind].cores);
    const std::size_t run_begin = chain_.run_begin[end];
    auto& begins = begins_[kind];
    std::size_t shortest = end;
    for (std::size_t cores = 1; cores <= max_cores; ++cores) {
        const std::uint64_t capacity = capacity_of(cores);
        const std::size_t first_allowed = cores == 1 ? 0 : run_begin;
        if (begins.size() < cores) begins.push_back(0);
        std::size_t begin = std::max(begins[cores - 1], first_allowed);
        while (prefix[end] - prefix[begin] > capacity) ++begin;
        begins[cores - 1] = begin;

        if (begin > first_allowed)
            next_sums_[cores - 1] = std::min(next_sums_[cores - 1], prefix[end] - prefix[begin - 1]);
        if (begin < shortest) options_.push_back({begin, kind, cores});
        shortest = std::min(shortest, begin);
        if (begin <= run_begin) return;  // more cores only help inside a replicable run
    }
}

std::uint64_t StageOptions::capacity_of(std::size_t cores) {
    if (capacities_.size() < cores) {
        capacities_.push_back(capacity(*period_, cores));
        next_sums_.push_back(kNone);
    }
    return capacities_[cores - 1];
}

std::optional<Ratio> StageOptions::next_period() const {
    std::optional<Ratio> next;
    for (std::size_t i = 0; i < next_sums_.size(); ++i) {
        const Ratio candidate{next_sums_[i], i + 1};
        if (next_sums_[i] != kNone && (!next || candidate < *next)) next = candidate;
    }
    return next;
}

}  // namespace tidemill::detail
