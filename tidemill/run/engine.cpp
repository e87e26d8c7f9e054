#include "tidemill/run/engine.hpp"

#include <memory>
#include <utility>

#include "tidemill/platform/energy_watch.hpp"
#include "tidemill/run/end_frames.hpp"
#include "tidemill/run/journal/journaled_run.hpp"
#include "tidemill/run/observed_run.hpp"

namespace tidemill {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Engine::Engine(Graph& graph, EngineCut cut)
    : graph_(graph),
      graph_size_(graph.size()),
      structure_(structure_of(graph)),
      cut_(std::move(cut)),
      knobs_(graph) {
    check(cut_);
}

void Engine::check(const EngineCut& cut) const {
    if (cut.batch == 0) throw GraphError("a stage that hands over 0 frames at a time; give 1 or more");
    std::vector<StageCut> cuts;
    for (const EngineStage& stage : cut.stages) cuts.push_back(stage.cut);
    compile(graph_, structure_, cuts);
}

RunReport Engine::run(const RunOptions& options) {
    return go(options, /*anew=*/true);
}

RunReport Engine::resume(const RunOptions& options) {
    RunOptions rest = options;
    if (options.finish) rest.frames = 0;
    return go(rest, /*anew=*/false);
}

RunReport Engine::go(const RunOptions& wanted, bool anew) {
    RunTotals totals;
    RunReport report;
    Graph::Running running(graph_, graph_size_);
    if (anew) knobs_.restart();
    place_ = &running.place();
    begin_stream(*place_, graph_, structure_.segments, anew);
    JournaledRun journaled(wanted, graph_, knobs_, place_->next_frames.front());
    RunOptions options = wanted;
    options.frames = journaled.frames();
    const ObservedRun observed(options.observers);
    EnergyWatch energy(options.energy_meter);
    const Clock::time_point start = Clock::now();
    std::uint64_t left = options.frames;
    stopped_by_.reset();
    while (run_crew(options, left, totals, report)) {
        if (options.frames != kEndless) left = options.frames - totals.frames;
    }
    journaled.end(place_->next_frames.front(), ended_);
    if (stopped_by_ || options.finish) end_stream(options, totals);
    report.elapsed_s = seconds_since(start);
    report.energy = energy.stop();
    report_totals(structure_, totals, report);
    return report;
}

void Engine::end_stream(const RunOptions& options, RunTotals& totals) {
    if (structure_.ends.empty()) return;
    place_->has_ended = true;
    run_end_frames(graph_, structure_, cut_, options, {place_->next_frames, stopped_by_, knobs_}, pool_,
                   totals);
}

void Engine::reschedule(EngineCut cut) {
    check(cut);
    const std::lock_guard lock(mutex_);
    wanted_cut_ = std::move(cut);
    wanted_since_ = Clock::now();
    if (running_) running_->halt();
}

// Returns whether the stream goes on under other stages.
bool Engine::run_crew(const RunOptions& options, std::uint64_t frames_left, RunTotals& totals,
                      RunReport& report) {
    std::optional<Crew> crew;
    {
        const std::lock_guard lock(mutex_);
        const bool changed = wanted_cut_.has_value();
        if (changed) cut_ = std::move(*std::exchange(wanted_cut_, std::nullopt));
        crew.emplace(graph_, structure_, cut_, options, place_->next_frames, frames_left, knobs_);
        running_ = &crew->state();
        if (changed) report.bubbles_us.push_back(seconds_since(wanted_since_) * 1e6);
    }
    const Clock::time_point start = Clock::now();
    work(*crew, options);
    report.stages_elapsed_s = seconds_since(start);
    const std::lock_guard lock(mutex_);
    ended_ = crew->state().outcome().has_value();
    if (ended_) knobs_.end();
    crew->state().rethrow();
    place_->next_frames = crew->next_frames();
    stopped_by_ = crew->stopped_by();
    crew->add_to(totals);
    report.stages = crew->stage_reports();
    report.segments = crew->segment_reports(totals);
    return wanted_cut_ && !crew->state().ended() && totals.frames < options.frames;
}

void Engine::work(Crew& crew, const RunOptions& options) {
    const auto forget = [this](RunState*) {
        const std::lock_guard lock(mutex_);
        running_ = nullptr;
    };
    const std::unique_ptr<RunState, decltype(forget)> until_here(&crew.state(), forget);
    const std::stop_callback end_on_request(options.stop, [&] { crew.state().end(); });
    crew.run(pool_);
}

}  // namespace tidemill
