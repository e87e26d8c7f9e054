#include "tidemill/runtime/execute/engine.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace tidemill {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Engine::Engine(Graph& graph, EngineCut cut) : StreamEngine(graph), cut_(std::move(cut)) {
    check_cut(cut_);
}

void Engine::check_cut(const EngineCut& cut) const {
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

Stretch Engine::run_stretch(const RunOptions& options, StreamRun& stream) {
    Stretch stretch;
    stopped_by_.reset();
    while (run_crew(options, stream, stretch)) {
    }
    report_totals(structure_, stretch.totals, stretch.report);
    return stretch;
}

void Engine::halt() {
    const std::lock_guard lock(mutex_);
    if (running_) running_->halt();
}

void Engine::reschedule(EngineCut cut) {
    check_cut(cut);
    const std::lock_guard lock(mutex_);
    wanted_cut_ = std::move(cut);
    wanted_since_ = Clock::now();
    if (running_) running_->halt();
}

// Returns whether the stretch goes on, under other stages or after a pause.
bool Engine::run_crew(const RunOptions& options, StreamRun& stream, Stretch& stretch) {
    std::optional<Crew> crew;
    RunTotals& totals = stretch.totals;
    const std::uint64_t left = options.frames == kEndless ? options.frames : options.frames - totals.frames;
    {
        const std::lock_guard lock(mutex_);
        const bool changed = wanted_cut_.has_value();
        if (changed) cut_ = std::move(*std::exchange(wanted_cut_, std::nullopt));
        stream.pause();
        crew.emplace(graph_, structure_, cut_, options, stream.place().next_frames, left, *knobs_);
        running_ = &crew->state();
        if (changed) stretch.report.bubbles_us.push_back(seconds_since(wanted_since_) * 1e6);
    }
    const Clock::time_point start = Clock::now();
    stream.frames_run([&] { work(*crew, options); });
    stream.guarded([&] { crew->merge_clones(); });
    stretch.report.stages_elapsed_s = seconds_since(start);
    const std::lock_guard lock(mutex_);
    const bool ended = crew->state().outcome().has_value();
    if (ended) knobs_->end();
    crew->state().rethrow();
    stream.place().next_frames = crew->next_frames();
    stopped_by_ = crew->stopped_by();
    crew->add_to(totals);
    stretch.report.stages = crew->stage_reports();
    stretch.report.segments = crew->segment_reports(totals);
    const bool wants_end = crew->state().ended();
    if (ended || wants_end) stretch.end = ended ? StretchEnd::by_task : StretchEnd::wanted;
    return (wanted_cut_ || stream.should_pause()) && !wants_end && totals.frames < options.frames;
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
