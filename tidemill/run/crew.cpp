#include "tidemill/run/crew.hpp"

#include <algorithm>

#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

namespace {

Plan compiled(const Graph& graph, const Structure& structure, const std::vector<EngineStage>& stages) {
    std::vector<StageCut> cuts;
    for (const EngineStage& stage : stages) cuts.push_back(stage.cut);
    return compile(graph, structure, cuts);
}

}  // namespace

Crew::Crew(Graph& graph, const Structure& structure, const std::vector<EngineStage>& stages,
           const RunOptions& options, const std::vector<std::uint64_t>& first_frames)
    : stages_(stages),
      structure_(structure),
      plan_(compiled(graph, structure, stages)),
      state_(plan_, ring_sizes(), first_frames, any_sleeper()) {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        for (std::size_t r = 0; r < stages_[s].cut.threads; ++r) add_worker(graph, options, s, r);
    }
    pin_errors_.resize(workers_.size());
}

// One token per thread keeps all of them busy; the rings' depths are what may wait in between.
std::vector<std::size_t> Crew::ring_sizes() const {
    std::vector<std::size_t> sizes(plan_.segments.size(), 0);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        for (const Part& part : plan_.stages[s].parts) {
            const bool last = part.stage_index + 1 == plan_.segments[part.segment].stages;
            sizes[part.segment] += stages_[s].cut.threads + (last ? 0 : stages_[s].ring_depth);
        }
    }
    return sizes;
}

bool Crew::any_sleeper() const {
    for (std::size_t s = 0; s + 1 < stages_.size(); ++s) {
        if (stages_[s].waiting != WaitMode::active) return true;
    }
    return false;
}

void Crew::add_worker(Graph& graph, const RunOptions& options, std::size_t stage, std::size_t replica) {
    Worker::Options chosen;
    chosen.pull = stages_[stage == 0 ? 0 : stage - 1].waiting;
    chosen.push = stages_[stage].waiting;
    chosen.statistics = options.statistics;
    if (stage == 0) chosen.stop_when = options.stop_when;
    for (Observer* observer : options.observers) {
        chosen.observers.push_back(&observer->watch({plan_, stage, replica}));
    }
    workers_.push_back(std::make_unique<Worker>(plan_, stage, replica, modules_for(graph, stage, replica),
                                                state_, std::move(chosen)));
}

// The first replica works on the graph's own modules.
std::vector<Module*> Crew::modules_for(Graph& graph, std::size_t stage, std::size_t replica) {
    std::vector<Module*> modules;
    for (std::size_t m = 0; m < graph.module_count(); ++m) modules.push_back(&graph.module(m));
    if (replica == 0) return modules;
    for (const Part& part : plan_.stages[stage].parts) {
        for (std::uint32_t step = part.first_step; step < part.last_step; ++step) {
            const TaskId id = plan_.steps[step].task.id;
            Module& original = graph.module(id.module);
            const bool copied = modules[id.module] != &original;
            if (original.tasks()[id.task].options.replication != Replication::cloned || copied) continue;
            clones_.push_back({&original, graph.clone(id.module)});
            clones_.back().copy->forget_totals();
            modules[id.module] = clones_.back().copy.get();
        }
    }
    return modules;
}

const PuSet* Crew::cores_of(const Worker& worker) const {
    const std::vector<PuSet>& cores = stages_[worker.stage()].cores;
    return cores.empty() || cores[worker.replica()].empty() ? nullptr : &cores[worker.replica()];
}

void Crew::run(ThreadPool& pool) {
    std::vector<ThreadPool::Job> jobs;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        jobs.push_back([this, w] {
            Worker& worker = *workers_[w];
            std::optional<PinGuard> pinned;
            if (const PuSet* cores = cores_of(worker)) pin_errors_[w] = pinned.emplace(*cores).error();
            worker.run();
        });
    }
    const bool alone = jobs.size() == 1 && !cores_of(*workers_.front());
    if (alone) {
        jobs.front()();
    } else {
        pool.run_all(std::move(jobs));
    }
    for (Clone& clone : clones_) clone.original->merge(*clone.copy);
}

std::vector<std::uint64_t> Crew::next_frames() {
    std::vector<std::uint64_t> numbers;
    for (std::uint32_t s = 0; s < state_.segments(); ++s) numbers.push_back(state_.ring(s).end());
    return numbers;
}

void Crew::add_to(RunTotals& totals) const {
    totals.step_times.resize(plan_.steps.size());
    for (const auto& worker : workers_) {
        for (std::size_t step = 0; step < worker->step_times().size(); ++step) {
            totals.step_times[step].add(worker->step_times()[step]);
        }
        totals.latencies.add(worker->latencies());
        totals.frames += worker->frames_begun();
        totals.delivered += worker->frames_delivered();
        totals.skipped += worker->frames_skipped();
    }
}

std::vector<StageReport> Crew::stage_reports() const {
    std::vector<StageReport> reports;
    std::size_t unit = 0;
    for (const EngineStage& stage : stages_) {
        reports.push_back({unit, stage.cut.units, {}});
        unit += stage.cut.units;
    }
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        const Worker& worker = *workers_[w];
        std::uint64_t work = 0;
        for (const Durations& times : worker.step_times()) work += times.sum();
        const PuSet* cores = cores_of(worker);
        reports[worker.stage()].threads.push_back(
            {to_ns(work) / 1000, report_of(worker.pull_waits()), report_of(worker.push_waits()),
             cores ? to_string(*cores) : "any", pin_errors_[w] ? pin_errors_[w]->reason : ""});
    }
    return reports;
}

std::vector<SegmentReport> Crew::segment_reports(const RunTotals& totals) const {
    const std::vector<std::size_t> tokens = ring_sizes();
    std::vector<SegmentReport> segments;
    for (std::size_t s = 0; s < tokens.size(); ++s) {
        segments.push_back(
            {tokens[s], tokens[s] * aligned(plan_.segments[s].token_bytes), 0, plan_.segments[s].stages - 1});
    }
    for (const PlannedStage& stage : plan_.stages) {
        for (const Part& part : stage.parts) segments[part.segment].threads += stage.threads;
    }
    for (std::size_t step = 0; step < totals.step_times.size(); ++step) {
        std::uint64_t& frames = segments[structure_.order[step].segment].frames;
        frames = std::max(frames, totals.step_times[step].count());
    }
    return segments;
}

}  // namespace tidemill
