#include "tidemill/scheduling/static/stages/solution.hpp"

#include <algorithm>
#include <span>

namespace tidemill::internal {
namespace {

std::size_t end_of(const ExactChain& chain, const Solution& stages, std::size_t stage) {
    return stage + 1 < stages.size() ? stages[stage + 1].begin : chain.size;
}

// Batches that are half as large wait half as long; what a device takes is to stay well below the period.
int batch_for(const Stage& stage, const Chain& chain, double period_us) {
    constexpr double kMostOfPeriod = 0.8;
    Stage smaller = stage;
    smaller.batch = batch_cost(chain.tasks[stage.first_task], stage.core_kind)->most_frames;
    for (std::size_t i = 1; i < stage.task_count; ++i)
        smaller.batch = std::min(*smaller.batch,
                                 batch_cost(chain.tasks[stage.first_task + i], stage.core_kind)->most_frames);
    int batch = *smaller.batch;
    while (batch > 1) {
        smaller.batch = batch / 2;
        if (stage_weight_us(smaller, chain) > kMostOfPeriod * period_us) break;
        batch /= 2;
    }
    return batch;
}

bool is_in_batches(const Stage& stage, const Chain& chain) {
    return std::ranges::all_of(tasks_of(stage, chain),
                               [&](const ChainTask& task) { return batch_cost(task, stage.core_kind); });
}

// Threads that feed a device mostly sleep, and have no core of their own.
void set_batches(Schedule& schedule, const Chain& chain) {
    for (Stage& stage : schedule.stages) {
        if (!is_in_batches(stage, chain)) continue;
        stage.batch = batch_for(stage, chain, *schedule.period_us);
        stage.pinning = Pinning::kLoose;
    }
}

Stage stage_of(const Chain& chain, const ExactChain& exact, const StageOption& option, std::size_t end) {
    Stage stage;
    stage.first_task = option.begin;
    stage.task_count = end - option.begin;
    if (!option.is_mixed()) {
        stage.threads = static_cast<int>(option.cores);
        stage.core_kind = chain.kinds[exact.kinds[option.kind].chain_kind];
        stage.shares_core = exact.kinds[option.kind].shares_core;
        return stage;
    }
    const BestWord best = best_word(exact, option.begin, end, MixedCores(option.cores));
    std::vector<std::string> kinds;
    for (const std::size_t pool : best.pools) kinds.push_back(chain.kinds[exact.pools[pool].chain_kind]);
    stage.word = spread_word(kinds, best.letters);
    stage.threads = static_cast<int>(stage.word->kinds.size());
    return stage;
}

}  // namespace

Ratio real_period(const ExactChain& chain, const Solution& stages) {
    Ratio period;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const StageOption& stage = stages[s];
        const std::size_t end = end_of(chain, stages, s);
        period = std::max(period, stage.is_mixed()
                                      ? best_word(chain, stage.begin, end, MixedCores(stage.cores)).period
                                      : Ratio{chain.weight(stage.kind, stage.begin, end), stage.cores});
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
    for (std::size_t s = 0; s < stages.size(); ++s)
        schedule.stages.push_back(stage_of(chain, exact, stages[s], end_of(exact, stages, s)));
    for (const auto& task : chain.tasks) schedule.task_names.push_back(task.name);
    schedule.period_us = period_us(schedule, chain, model);
    set_batches(schedule, chain);
    schedule.made_by = strategy;
    return schedule;
}

}  // namespace tidemill::internal
