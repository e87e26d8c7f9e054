#include "tidemill/scheduling/model/pipeline_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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
double unslowed_work_us(const Stage& stage, std::size_t kind, const Chain& chain, const CostModel& model) {
    double work_us = 0;
    for (std::size_t i = 0; i < stage.task_count; ++i) {
        work_us += task_weight_us(chain.tasks[stage.first_task + i], kind, stage);
    }
    work_us = std::max(0.0, work_us - resident_us(stage, chain));
    if (stage.shares_core) work_us *= model.kind(chain.kinds[kind]).shared_slowdown.value_or(1);
    const std::size_t end = stage.first_task + stage.task_count;
    if (stage.first_task > 0) work_us += model.cut_us(stage.first_task - 1);
    if (end < chain.tasks.size()) work_us += model.cut_us(end - 1);
    return work_us + model.stage_us;
}

// Times of a frame: how long the stage takes on average, and how long its threads are busy with their shares.
struct FrameWork {
    double mean_us = 0;
    std::vector<double> threads_us{};
};

FrameWork frame_work(const StageModel& stage) {
    const Turns turns = stage.turns();
    const std::size_t round = std::lcm(turns.round(), stage.work_us.size());
    std::vector<double> threads_us(stage.threads, 0.0);
    for (std::size_t frame = 0; frame < round; ++frame)
        threads_us[turns.thread_of(frame)] += stage.work_us[frame % stage.work_us.size()];
    const auto frames = static_cast<double>(round);
    for (double& thread_us : threads_us) thread_us /= frames;
    return {std::accumulate(threads_us.begin(), threads_us.end(), 0.0), std::move(threads_us)};
}

// Threads that stages name are numbered in the order of their names.
void set_owners(PipelineModel& model, const Schedule& schedule) {
    std::size_t number = 0;
    for (const auto& [owner, seats] : schedule.owners()) {
        for (const auto& [stage, thread] : seats) {
            StageModel& made = model.stages[stage];
            made.owners.resize(made.threads);
            made.owners[thread] = number;
        }
        model.owner_names.push_back(fmt::format("{}:{}", owner.kind, owner.number));
        ++number;
    }
}

void check_owners_of(const StageModel& stage, std::map<std::size_t, const StageModel*>& known) {
    require(stage.owners.empty() || stage.owners.size() == stage.threads, "number of owners of a stage",
            static_cast<double>(stage.owners.size()));
    for (std::size_t thread = 0; thread < stage.owners.size(); ++thread) {
        const auto [found, is_new] = known.emplace(stage.owners[thread], &stage);
        const bool same =
            found->second->shares_core == stage.shares_core && (is_new || found->second != &stage);
        require(is_new || same, "owner of two threads of one stage, or of half a core and a whole one",
                static_cast<double>(stage.owners[thread]));
    }
}

void set_threads(StageModel& made, const Stage& stage, const Chain& chain, const MachineModel& machine,
                 double waiting_us) {
    made.threads = static_cast<std::size_t>(stage.threads);
    if (!stage.word) {
        made.kind = chain.kind_index(stage.core_kind);
        made.work_us = {unslowed_work_us(stage, made.kind, chain, machine.model) +
                        waiting_us * stage.threads};
        return;
    }
    made.letters = stage.word->letters;
    for (const std::string& kind : stage.word->kinds) made.kinds.push_back(chain.kind_index(kind));
    made.work_us.clear();
    for (const std::size_t thread : made.letters) {
        const double rounds_us = waiting_us * static_cast<double>(made.letters.size()) /
                                 static_cast<double>(stage.word->count(thread));
        made.work_us.push_back(unslowed_work_us(stage, made.kinds[thread], chain, machine.model) + rounds_us);
    }
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
        set_threads(made, stage, chain, machine, waiting_us);
        made.shares_core = stage.shares_core;
        // The first stage waits for free tokens, at its own ring; the others for the stage before them.
        made.spins = schedule.stages[s == 0 ? 0 : s - 1].waiting == WaitMode::active;
        tokens += stage.frames_held();
        if (!last)
            tokens +=
                stage.sync_buff_size ? static_cast<std::size_t>(*stage.sync_buff_size) : machine.ring_depth;
    }
    set_owners(model, schedule);
    if (schedule.frames_in_flight)
        tokens = std::min(tokens, static_cast<std::size_t>(*schedule.frames_in_flight));
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
    std::map<std::size_t, const StageModel*> known;
    for (const StageModel& stage : model.stages) {
        require(stage.threads > 0, "number of threads in a stage", 0);
        for (std::size_t thread = 0; thread < std::max<std::size_t>(1, stage.kinds.size()); ++thread)
            require(stage.kind_of(thread) < model.cores.size(), "core kind",
                    static_cast<double>(stage.kind_of(thread)));
        if (!stage.letters.empty())
            require(stage.turns().threads() == stage.threads && stage.kinds.size() == stage.threads,
                    "number of threads in a mixed stage", static_cast<double>(stage.threads));
        require(!stage.work_us.empty(), "number of works of a stage", 0);
        for (const double work_us : stage.work_us) require(sensible(work_us), "work in us", work_us);
        check_owners_of(stage, known);
    }
}

// Frame k waits for frame k - threads in its stage and for frame k - tokens at the pipeline's start. The only
// circuits of these waits are a stage's own and the one through all stages, so the largest of their means is
// the period. A thread with several stages cannot do more than one at a time.
double settled_period_us(const PipelineModel& model) {
    double period_us = 0;
    double round_us = 0;
    std::map<std::size_t, double> owners_us;
    for (const StageModel& stage : model.stages) {
        const FrameWork work = frame_work(stage);
        period_us = std::max(period_us, std::ranges::max(work.threads_us));
        for (std::size_t thread = 0; thread < stage.owners.size(); ++thread)
            owners_us[stage.owners[thread]] += work.threads_us[thread];
        round_us += work.mean_us + (model.stages.size() > 1 ? model.hop_latency_us : 0);
    }
    for (const auto& [owner, owner_us] : owners_us) period_us = std::max(period_us, owner_us);
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
