#include "tidemill/run/engine.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tidemill/run/end_frames.hpp"

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
      knobs_(KnobBook::of(graph)) {
    check(cut_);
}

void Engine::check(const EngineCut& cut) const {
    if (cut.batch == 0) throw GraphError("a stage that hands over 0 frames at a time; give 1 or more");
    if (cut.batch > structure_.flight.frames) {
        throw GraphError(fmt::format(
            "{} gives what was {} frames before, and stages hand over {} frames at a time: hand "
            "over at most {}, or make the delay longer",
            structure_.flight.task, structure_.flight.frames, cut.batch, structure_.flight.frames));
    }
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
    StreamRun stream({graph_, graph_size_, structure_, *knobs_, wishes_}, wanted, anew, [this] { halt(); });
    const RunOptions options = stream.options(wanted);
    stopped_by_.reset();
    while (run_crew(options, stream, totals, report)) {
    }
    stream.has_begun_all(ended_);
    if (stopped_by_ || options.finish) end_stream(options, stream, totals);
    stream.finish(report);
    report_totals(structure_, totals, report);
    return report;
}

void Engine::end_stream(const RunOptions& options, StreamRun& stream, RunTotals& totals) {
    if (structure_.ends.empty()) return;
    stream.place().has_ended = true;
    run_end_frames(graph_, structure_, cut_, options, {stream.place().next_frames, stopped_by_, *knobs_},
                   pool_, totals);
}

Checkpoint Engine::checkpoint() {
    if (std::optional<Checkpoint> taken = wishes_.want()) return *std::move(taken);
    wishes_.wait_until_over();
    return checkpoint_of(graph_);
}

void Engine::halt() {
    const std::lock_guard lock(mutex_);
    if (running_) running_->halt();
}

void Engine::reschedule(EngineCut cut) {
    check(cut);
    const std::lock_guard lock(mutex_);
    wanted_cut_ = std::move(cut);
    wanted_since_ = Clock::now();
    if (running_) running_->halt();
}

// Returns whether the stream goes on, under other stages or after a pause.
bool Engine::run_crew(const RunOptions& options, StreamRun& stream, RunTotals& totals, RunReport& report) {
    std::optional<Crew> crew;
    const std::uint64_t left = options.frames == kEndless ? options.frames : options.frames - totals.frames;
    {
        const std::lock_guard lock(mutex_);
        const bool changed = wanted_cut_.has_value();
        if (changed) cut_ = std::move(*std::exchange(wanted_cut_, std::nullopt));
        stream.pause();
        crew.emplace(graph_, structure_, cut_, options, stream.place().next_frames, left, *knobs_);
        running_ = &crew->state();
        if (changed) report.bubbles_us.push_back(seconds_since(wanted_since_) * 1e6);
    }
    const Clock::time_point start = Clock::now();
    work(*crew, options);
    report.stages_elapsed_s = seconds_since(start);
    const std::lock_guard lock(mutex_);
    ended_ = crew->state().outcome().has_value();
    if (ended_) knobs_->end();
    crew->state().rethrow();
    stream.place().next_frames = crew->next_frames();
    stopped_by_ = crew->stopped_by();
    crew->add_to(totals);
    report.stages = crew->stage_reports();
    report.segments = crew->segment_reports(totals);
    const bool paused = wanted_cut_ || stream.should_pause();
    return paused && !crew->state().ended() && totals.frames < options.frames;
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
