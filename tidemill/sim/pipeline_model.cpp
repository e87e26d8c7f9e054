#include "tidemill/sim/pipeline_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace tidemill {

namespace {

void require(bool good, std::string_view what, double value) {
    if (!good) throw ScheduleError(fmt::format("the simulated machine's {} cannot be {}", what, value));
}

bool sensible(double amount) {
    return std::isfinite(amount) && amount >= 0;
}

void check_core(const KindCosts& core) {
    for (const double factor : core.slowdown) {
        require(std::isfinite(factor) && factor >= 1, core.kind + " slowdown", factor);
    }
    require(sensible(core.busy_w), core.kind + " busy watts", core.busy_w);
    require(sensible(core.idle_w), core.kind + " idle watts", core.idle_w);
}

double unused_watts(const Schedule& schedule, const std::vector<KindCosts>& cores, const Platform& platform) {
    const std::vector<CoreCount> used = cores_used(schedule);
    double watts = 0;
    for (const KindCosts& core : cores) {
        const auto busy = std::ranges::find(used, core.kind, &CoreCount::kind);
        const int spare = platform.count(core.kind) - (busy == used.end() ? 0 : busy->count);
        watts += std::max(spare, 0) * core.idle_w;
    }
    return watts;
}

// Without the slowdowns, which come and go while the stage works.
double unslowed_work_us(const Stage& stage, const Chain& chain, const CostModel& model) {
    const std::size_t kind = chain.kind_index(stage.core_kind);
    double work_us = 0;
    for (std::size_t i = 0; i < stage.task_count; ++i) {
        work_us += task_weight_us(chain.tasks[stage.first_task + i], kind, stage);
    }
    if (stage.shares_core) work_us *= model.kind(stage.core_kind).shared_slowdown.value_or(1);
    const std::size_t end = stage.first_task + stage.task_count;
    if (stage.first_task > 0) work_us += model.cut_us(stage.first_task - 1);
    if (end < chain.tasks.size()) work_us += model.cut_us(end - 1);
    return work_us + model.stage_us;
}

double mean_work_us(const StageModel& stage) {
    return std::accumulate(stage.work_us.begin(), stage.work_us.end(), 0.0) /
           static_cast<double>(stage.work_us.size());
}

}  // namespace

PipelineModel model_of(const Schedule& schedule, const Chain& chain, const MachineModel& machine) {
    check(schedule, chain);
    check(machine.model, chain);
    PipelineModel model;
    for (const std::string& kind : chain.kinds) model.cores.push_back(machine.model.kind(kind));
    model.hop_latency_us = machine.hop_latency_us;
    model.jitter = machine.jitter;
    model.seed = machine.seed;
    model.unused_w = unused_watts(schedule, model.cores, machine.platform);
    const double waiting_us = host_us(schedule, chain);
    std::size_t tokens = 0;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const Stage& stage = schedule.stages[s];
        const bool last = s + 1 == schedule.stages.size();
        StageModel& made = model.stages.emplace_back();
        made.threads = static_cast<std::size_t>(stage.threads);
        made.kind = chain.kind_index(stage.core_kind);
        made.work_us = {unslowed_work_us(stage, chain, machine.model) + waiting_us * stage.threads};
        made.shares_core = stage.shares_core;
        // The first stage waits for free tokens, at its own ring; the others for the stage before them.
        made.spins = schedule.stages[s == 0 ? 0 : s - 1].waiting == Waiting::kActive;
        tokens += made.threads;
        if (!last)
            tokens +=
                stage.sync_buff_size ? static_cast<std::size_t>(*stage.sync_buff_size) : machine.ring_depth;
    }
    model.tokens = machine.tokens.value_or(tokens);
    check(model);
    return model;
}

void check(const PipelineModel& model) {
    require(!model.stages.empty(), "number of stages", 0);
    require(model.tokens > 0, "number of tokens", 0);
    require(sensible(model.hop_latency_us), "hop in us", model.hop_latency_us);
    require(sensible(model.jitter), "jitter", model.jitter);
    for (const KindCosts& core : model.cores) check_core(core);
    for (const StageModel& stage : model.stages) {
        require(stage.threads > 0, "number of threads in a stage", 0);
        require(stage.kind < model.cores.size(), "core kind", static_cast<double>(stage.kind));
        require(!stage.work_us.empty(), "number of works of a stage", 0);
        for (const double work_us : stage.work_us) require(sensible(work_us), "work in us", work_us);
    }
}

// Frame k waits for frame k - threads in its stage and for frame k - tokens at the pipeline's start. The only
// circuits of these waits are a stage's own and the one through all stages, so the largest of their means is
// the period.
double settled_period_us(const PipelineModel& model) {
    double period_us = 0;
    double round_us = 0;
    for (const StageModel& stage : model.stages) {
        const double work_us = mean_work_us(stage);
        period_us = std::max(period_us, work_us / static_cast<double>(stage.threads));
        round_us += work_us + (model.stages.size() > 1 ? model.hop_latency_us : 0);
    }
    return std::max(period_us, round_us / static_cast<double>(model.tokens));
}

std::vector<double> slowdowns_of(double drop, std::size_t cores) {
    std::vector<double> slowdowns{1};
    for (std::size_t more = 1; more < cores; ++more) {
        slowdowns.push_back(1 / (1 - drop * static_cast<double>(more) / static_cast<double>(cores - 1)));
    }
    return slowdowns;
}

}  // namespace tidemill
