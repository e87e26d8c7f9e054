#include "tidemill/run/engine.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "tidemill/platform/affinity.hpp"
#include "tidemill/platform/tick_clock.hpp"

namespace tidemill {

namespace {

std::vector<StageCut> cuts_of(const std::vector<EngineStage>& stages) {
    std::vector<StageCut> cuts;
    for (const EngineStage& stage : stages) cuts.push_back(stage.cut);
    return cuts;
}

double us(std::uint64_t elapsed_ticks) {
    return to_ns(elapsed_ticks) / 1000;
}

}  // namespace

/// The workers of one run, and the clones that replicas work on.
struct Engine::Crew {
    struct Clone {
        Module* original;
        std::unique_ptr<Module> copy;
    };

    Crew(const Graph& graph, const Plan& plan, const std::vector<std::size_t>& ring_sizes, bool sleepy)
        : state(plan, ring_sizes, sleepy) {
        for (std::size_t m = 0; m < graph.module_count(); ++m) originals.push_back(&graph.module(m));
    }

    // The first replica works on the graph's own modules.
    std::vector<Module*> modules_for(const Graph& graph, const Plan& plan, std::size_t stage,
                                     std::size_t replica) {
        std::vector<Module*> modules = originals;
        if (replica == 0) return modules;
        for (const Part& part : plan.stages[stage].parts) {
            for (std::uint32_t step = part.first_step; step < part.last_step; ++step) {
                const TaskId id = plan.steps[step].task.id;
                const TaskInfo& info = originals[id.module]->tasks()[id.task];
                const bool copied = modules[id.module] != originals[id.module];
                if (info.options.replication != Replication::cloned || copied) continue;
                clones.push_back({originals[id.module], graph.clone(id.module)});
                modules[id.module] = clones.back().copy.get();
            }
        }
        return modules;
    }

    RunState state;
    std::vector<Module*> originals;
    std::vector<Clone> clones;
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<std::optional<PinError>> pin_errors;  // per worker
};

Engine::Engine(Graph& graph, std::vector<EngineStage> stages)
    : graph_(graph),
      structure_(structure_of(graph)),
      stages_(std::move(stages)),
      plan_(compile(graph, structure_, cuts_of(stages_))) {}

// One token per thread keeps all of them busy; the rings' depths are what may wait in between.
std::vector<std::size_t> Engine::ring_sizes() const {
    std::vector<std::size_t> sizes(plan_.segments.size(), 0);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        for (const Part& part : plan_.stages[s].parts) {
            const bool last = part.stage_index + 1 == plan_.segments[part.segment].stages;
            sizes[part.segment] += stages_[s].cut.threads + (last ? 0 : stages_[s].ring_depth);
        }
    }
    return sizes;
}

bool Engine::any_sleeper() const {
    for (std::size_t s = 0; s + 1 < stages_.size(); ++s) {
        if (stages_[s].waiting != WaitMode::active) return true;
    }
    return false;
}

Worker::Options Engine::worker_options(std::size_t stage, const RunOptions& options) const {
    Worker::Options chosen;
    chosen.pull = stages_[stage == 0 ? 0 : stage - 1].waiting;
    chosen.push = stages_[stage].waiting;
    chosen.statistics = options.statistics;
    if (stage == 0) chosen.stop_when = options.stop_when;
    return chosen;
}

RunReport Engine::run(const RunOptions& options) {
    Crew crew(graph_, plan_, ring_sizes(), any_sleeper());
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        for (std::size_t r = 0; r < stages_[s].cut.threads; ++r) {
            Worker::Options chosen = worker_options(s, options);
            for (Observer* observer : options.observers) {
                chosen.observers.push_back(&observer->watch({plan_, s, r}));
            }
            crew.workers.push_back(std::make_unique<Worker>(
                plan_, s, r, crew.modules_for(graph_, plan_, s, r), crew.state, std::move(chosen)));
        }
    }
    crew.pin_errors.resize(crew.workers.size());
    if (options.frames != TokenRing::kEndless) crew.state.ring(0).close(options.frames);
    const std::stop_callback halt_on_request(options.stop, [&] { crew.state.halt(); });

    const auto start = std::chrono::steady_clock::now();
    const bool alone = crew.workers.size() == 1 && stages_[0].cores.empty();
    alone ? crew.workers[0]->run() : run_threads(crew);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

    for (Crew::Clone& clone : crew.clones) clone.original->merge(*clone.copy);
    crew.state.rethrow();
    return report(crew, elapsed.count());
}

void Engine::run_threads(Crew& crew) const {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < crew.workers.size(); ++w) {
        threads.emplace_back([this, &crew, w] {
            Worker& worker = *crew.workers[w];
            const std::vector<PuSet>& cores = stages_[worker.stage()].cores;
            if (!cores.empty() && !cores[worker.replica()].empty()) {
                crew.pin_errors[w] = pin_this_thread(cores[worker.replica()]);
            }
            worker.run();
        });
    }
}

std::vector<SegmentReport> Engine::report_segments(const std::vector<Durations>& step_times) const {
    const std::vector<std::size_t> tokens = ring_sizes();
    std::vector<SegmentReport> segments;
    for (std::size_t s = 0; s < tokens.size(); ++s) {
        segments.push_back(
            {tokens[s], tokens[s] * aligned(plan_.segments[s].token_bytes), 0, plan_.segments[s].stages - 1});
    }
    for (const PlannedStage& stage : plan_.stages) {
        for (const Part& part : stage.parts) segments[part.segment].threads += stage.threads;
    }
    for (std::size_t step = 0; step < step_times.size(); ++step) {
        std::uint64_t& frames = segments[structure_.order[step].segment].frames;
        frames = std::max(frames, step_times[step].count());
    }
    return segments;
}

RunReport Engine::report(const Crew& crew, double elapsed_s) const {
    RunReport report;
    report.elapsed_s = elapsed_s;
    for (const Unit& unit : structure_.units) report.units.push_back({unit.name, unit.replicable});
    std::vector<Durations> step_times(plan_.steps.size());
    Durations latencies;
    std::size_t unit = 0;
    for (const EngineStage& stage : stages_) {
        report.stages.push_back({unit, stage.cut.units, {}});
        unit += stage.cut.units;
    }
    for (std::size_t w = 0; w < crew.workers.size(); ++w) {
        const Worker& worker = *crew.workers[w];
        std::uint64_t work = 0;
        for (std::size_t step = 0; step < worker.step_times().size(); ++step) {
            step_times[step].add(worker.step_times()[step]);
            work += worker.step_times()[step].sum();
        }
        latencies.add(worker.latencies());
        report.frames += worker.frames_begun();
        report.delivered += worker.frames_delivered();
        report.skipped += worker.frames_skipped();
        const std::vector<PuSet>& cores = stages_[worker.stage()].cores;
        report.stages[worker.stage()].threads.push_back(
            {us(work), report_of(worker.pull_waits()), report_of(worker.push_waits()),
             cores.empty() ? "any" : to_string(cores[worker.replica()]),
             crew.pin_errors[w] ? crew.pin_errors[w]->reason : ""});
    }
    for (std::size_t u = 0; u < structure_.units.size(); ++u) {
        for (const std::uint32_t step : structure_.units[u].tasks) {
            report.tasks.push_back({structure_.order[step].name, u, report_of(step_times[step])});
        }
    }
    report.latency = report_of(latencies);
    report.segments = report_segments(step_times);
    return report;
}

}  // namespace tidemill
