#include "tidemill/schedule/internal/solution.hpp"

#include <algorithm>

namespace tidemill::internal {
namespace {

std::size_t end_of(const ExactChain& chain, const Solution& stages, std::size_t stage) {
    return stage + 1 < stages.size() ? stages[stage + 1].begin : chain.size;
}

}  // namespace

Ratio real_period(const ExactChain& chain, const Solution& stages) {
    Ratio period;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const auto& [begin, kind, cores] = stages[s];
        period = std::max(period, Ratio{chain.weight(kind, begin, end_of(chain, stages, s)), cores});
    }
    return period;
}

Ratio one_core_period(const ExactChain& chain) {
    std::uint64_t least = chain.weight(0, 0, chain.size);
    for (std::size_t kind = 1; kind < chain.kinds.size(); ++kind)
        least = std::min(least, chain.weight(kind, 0, chain.size));
    return {least, 1};
}

Schedule to_schedule(const Chain& chain, const ExactChain& exact, const Solution& stages,
                     std::string_view strategy, const CostModel& model) {
    Schedule schedule;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const auto& [begin, kind, cores] = stages[s];
        schedule.stages.push_back({.first_task = begin,
                                   .task_count = end_of(exact, stages, s) - begin,
                                   .threads = static_cast<int>(cores),
                                   .core_kind = chain.kinds[exact.kinds[kind].chain_kind],
                                   .shares_core = exact.kinds[kind].shares_core});
    }
    for (const auto& task : chain.tasks) schedule.task_names.push_back(task.name);
    schedule.period_us = period_us(schedule, chain, model);
    schedule.made_by = strategy;
    return schedule;
}

}  // namespace tidemill::internal
