#include "tidemill/run/engine.hpp"

#include <utility>

#include "tidemill/platform/energy_watch.hpp"

namespace tidemill {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Engine::Engine(Graph& graph, std::vector<EngineStage> stages)
    : graph_(graph),
      structure_(structure_of(graph)),
      stages_(std::move(stages)),
      next_frames_(structure_.segments, 0) {
    check(stages_);
}

void Engine::check(const std::vector<EngineStage>& stages) const {
    std::vector<StageCut> cuts;
    for (const EngineStage& stage : stages) cuts.push_back(stage.cut);
    compile(graph_, structure_, cuts);
}

RunReport Engine::run(const RunOptions& options) {
    next_frames_.assign(structure_.segments, 0);
    return resume(options);
}

RunReport Engine::resume(const RunOptions& options) {
    RunTotals totals;
    RunReport report;
    for (Observer* observer : options.observers) observer->begin_run();
    EnergyWatch energy(options.energy_meter);
    const Clock::time_point start = Clock::now();
    std::uint64_t left = options.frames;
    while (run_crew(options, left, totals, report)) {
        if (options.frames != TokenRing::kEndless) left = options.frames - totals.frames;
    }
    report.elapsed_s = seconds_since(start);
    report.energy = energy.stop();
    finish(totals, report);
    return report;
}

void Engine::reschedule(std::vector<EngineStage> stages) {
    check(stages);
    const std::lock_guard lock(mutex_);
    wanted_stages_ = std::move(stages);
    wanted_since_ = Clock::now();
    if (running_) running_->halt();
}

// Returns whether the stream goes on under other stages.
bool Engine::run_crew(const RunOptions& options, std::uint64_t frames_left, RunTotals& totals,
                      RunReport& report) {
    std::optional<Crew> crew;
    {
        const std::lock_guard lock(mutex_);
        const bool changed = wanted_stages_.has_value();
        if (changed) stages_ = std::move(*std::exchange(wanted_stages_, std::nullopt));
        crew.emplace(graph_, structure_, stages_, options, next_frames_);
        running_ = &crew->state();
        if (changed) report.bubbles_us.push_back(seconds_since(wanted_since_) * 1e6);
    }
    if (frames_left != TokenRing::kEndless) crew->state().ring(0).close(next_frames_[0] + frames_left);
    {
        const std::stop_callback end_on_request(options.stop, [&] { crew->state().end(); });
        crew->run(pool_);
    }
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    crew->state().rethrow();
    next_frames_ = crew->next_frames();
    crew->add_to(totals);
    report.stages = crew->stage_reports();
    report.segments = crew->segment_reports(totals);
    return wanted_stages_ && !crew->state().ended() && totals.frames < options.frames;
}

void Engine::finish(const RunTotals& totals, RunReport& report) const {
    for (const Unit& unit : structure_.units) report.units.push_back({unit.name, unit.replicable});
    for (std::size_t u = 0; u < structure_.units.size(); ++u) {
        for (const std::uint32_t step : structure_.units[u].tasks) {
            report.tasks.push_back({structure_.order[step].name, u, report_of(totals.step_times[step])});
        }
    }
    report.frames = totals.frames;
    report.delivered = totals.delivered;
    report.skipped = totals.skipped;
    report.latency = report_of(totals.latencies);
}

}  // namespace tidemill
