#include "tidemill/runtime/dynamic/dynamic_engine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/machine/tick_clock.hpp"
#include "tidemill/runtime/execute/late.hpp"
#include "tidemill/runtime/graph/arena.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"

namespace tidemill {

DynamicEngine::DynamicEngine(Graph& graph, DynamicOptions options)
    : StreamEngine(graph),
      options_(std::move(options)),
      plan_(compile_apart(graph, structure_)),
      units_(dynamic_units_of(graph, structure_, plan_)) {
    check_options();
    policy::KindSet there = 0;
    for (const policy::KindId kind : kinds()) there |= policy::KindSet{1} << kind;
    confine(units_, structure_, options_.only, there);
}

std::vector<policy::KindId> DynamicEngine::kinds() const {
    return options_.kinds.empty() ? std::vector<policy::KindId>(options_.workers) : options_.kinds;
}

std::vector<std::string> DynamicEngine::kind_names() const {
    std::vector<std::string> names = options_.kind_names;
    const std::vector<policy::KindId> used = kinds();
    for (std::size_t kind = names.size(); kind <= std::ranges::max(used); ++kind)
        names.push_back(fmt::format("kind {}", kind));
    return names;
}

std::vector<bridge::KnownTicks> DynamicEngine::known_ticks() const {
    std::vector<bridge::KnownTicks> known(options_.known_us.empty() ? 0 : units_.size());
    for (std::size_t k = 0; k < known.size(); ++k) {
        const auto named = options_.known_us.find(units_[k].name);
        if (named == options_.known_us.end()) continue;
        for (const double us : named->second)
            known[k].push_back(static_cast<std::uint64_t>(us * 1e3 / ns_per_tick()));
    }
    return known;
}

void DynamicEngine::check_options() const {
    if (options_.workers == 0) throw GraphError("dynamic scheduling with 0 workers: give 1 or more");
    const auto check_count = [this](const char* what, std::size_t given) {
        if (given == 0 || given == options_.workers) return;
        throw GraphError(fmt::format("{} are given for {} workers, there are {}: give one for each, or none",
                                     what, given, options_.workers));
    };
    check_count("sets of cores", options_.cores.size());
    check_count("kinds of cores", options_.kinds.size());
    if (!options_.make_policy) policy::make_policy(options_.policy, kinds());
    tokens();
    if (options_.workers == 1) return;
    for (const OrderedTask& task : structure_.order) {
        const TaskOptions& promised = graph_.module(task.id.module).tasks()[task.id.task].options;
        if (promised.replication == Replication::cloned) graph_.require_clonable(task.id.module);
    }
}

std::uint64_t DynamicEngine::bytes_per_frame() const {
    std::uint64_t bytes = 0;
    for (const PlannedSegment& segment : plan_.segments) bytes += aligned(segment.token_bytes);
    return bytes;
}

std::uint64_t DynamicEngine::default_window() const {
    constexpr std::uint64_t kCacheBytes = 1 << 20;
    constexpr std::uint64_t kMost = 64;
    const std::uint64_t least = 2 * options_.workers + 2;
    return std::clamp(kCacheBytes / std::max<std::uint64_t>(1, bytes_per_frame()), least,
                      std::max(least, kMost));
}

std::vector<std::uint32_t> DynamicEngine::tokens() const {
    const policy::Window& window = options_.window;
    constexpr std::uint64_t kMost = 1 << 20;
    const bool limited =
        std::min({window.iterations, window.tasks, window.bytes}) != policy::Window::kUnlimited;
    const std::uint64_t bytes = std::max<std::uint64_t>(1, bytes_per_frame());
    const std::uint64_t frames =
        limited ? std::min({window.iterations, window.tasks / units_.size(), window.bytes / bytes, kMost})
                : default_window();
    if (frames == 0) {
        throw GraphError(fmt::format(
            "the window of {} iterations, {} tasks and {} bytes has no room for a frame: of '{}' it takes 1, "
            "{} "
            "and {}",
            window.iterations, window.tasks, window.bytes, graph_.name(), units_.size(), bytes));
    }
    std::vector<std::uint32_t> tokens(structure_.segments, static_cast<std::uint32_t>(frames));
    tokens.front() = static_cast<std::uint32_t>(std::min(frames, structure_.flight.frames));
    return tokens;
}

void DynamicEngine::check(const RunOptions& options) const {
    if (options.late != Late::wait && !options.replay)
        throw RunError(
            "dynamic workers ask a source only when there is room: drop late frames in a Pipeline");
    if (options.replay) check_may_drop(plan_);
}

Stretch DynamicEngine::run_stretch(const RunOptions& options, StreamRun& stream) {
    check(options);
    stopped_by_.reset();
    Told told{.times = {structure_, kinds(), kind_names()}};
    while (run_crew(options, stream, told)) {
    }
    Stretch stretch{.totals = std::move(told.totals), .end = told.end};
    fill_report(told, stretch.totals, stretch.report);
    return stretch;
}

TaskCrew::Settings DynamicEngine::settings(const RunOptions& options, const StreamRun& stream) const {
    TaskCrew::Settings settings;
    settings.board.policy = options_.policy;
    settings.board.make_policy = options_.make_policy;
    settings.board.adapting = options_.adapting;
    settings.board.kinds = kinds();
    settings.board.tokens = tokens();
    settings.board.first_frames = stream.place().next_frames;
    settings.board.bundle_ticks =
        static_cast<std::uint64_t>(static_cast<double>(options_.bundle.count()) / ns_per_tick());
    settings.board.branches = plan_.branches;
    settings.board.places = options_.places && std::ranges::max(settings.board.kinds) > 0;
    settings.board.known = known_ticks();
    settings.board.explores = options_.explores;
    settings.board.now = ticks;
    settings.board.latencies = options.statistics || !options.observers.empty();
    settings.waiting = options_.waiting;
    settings.cores = options_.cores;
    settings.kind_names = kind_names();
    settings.emulation = options_.emulation;
    return settings;
}

// Returns whether the stretch goes on after a pause.
bool DynamicEngine::run_crew(const RunOptions& options, StreamRun& stream, Told& told) {
    using Clock = std::chrono::steady_clock;
    bool wants_end = false;
    TaskCrew::Settings how = settings(options, stream);
    how.board.frames = options.frames == kEndless ? kEndless : options.frames - told.totals.frames;
    how.board.stop_when = [&] { return wants_end = wants_end || (options.stop_when && options.stop_when()); };
    std::optional<TaskCrew> crew;
    {
        const std::lock_guard lock(mutex_);
        stream.pause();
        crew.emplace(graph_, plan_, units_, how, options, *knobs_);
        running_ = &*crew;
    }
    const Clock::time_point start = Clock::now();
    stream.frames_run([&] { work(*crew, options); });
    stream.guarded([&] { crew->merge_clones(); });
    told.elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    const bool ended = crew->board().ended();
    if (ended) knobs_->end();
    crew->rethrow();
    stream.place().next_frames = crew->next_frames();
    stopped_by_ = crew->board().stopped_by();
    crew->add_to(told.totals);
    told.threads = crew->thread_reports();
    for (policy::KindId kind = 0; kind < told.times.kinds(); ++kind)
        told.times.add(kind, crew->step_times_on(kind));
    wants_end = wants_end || options.stop.stop_requested();
    if (ended || wants_end) told.end = ended ? StretchEnd::by_task : StretchEnd::wanted;
    wants_end = wants_end || ended;
    return stream.should_pause() && !wants_end && told.totals.frames < options.frames;
}

void DynamicEngine::work(TaskCrew& crew, const RunOptions& options) {
    const auto forget = [this](TaskCrew*) {
        const std::lock_guard lock(mutex_);
        running_ = nullptr;
    };
    const std::unique_ptr<TaskCrew, decltype(forget)> until_here(&crew, forget);
    const std::stop_callback end_on_request(options.stop, [&] { crew.halt(); });
    crew.run(pool_);
}

void DynamicEngine::halt() {
    const std::lock_guard lock(mutex_);
    if (running_) running_->halt();
}

// Few frames, in order: consecutive units that one worker's core may run are a stage, on a thread there.
EngineCut DynamicEngine::cut_at_end() const {
    const std::vector<policy::KindId> kind_of_worker = kinds();
    EngineCut cut;
    std::size_t worker = 0;
    for (const DynamicUnit& unit : units_) {
        const auto may_run = [&](std::size_t w) { return (unit.kinds >> kind_of_worker[w] & 1) != 0; };
        if (cut.stages.empty() || !may_run(worker)) {
            worker = 0;
            while (!may_run(worker)) ++worker;
            cut.stages.push_back({{0, 1}, 1, WaitMode::passive, {}});
            if (!options_.cores.empty()) cut.stages.back().cores = {options_.cores[worker]};
        }
        ++cut.stages.back().cut.units;
    }
    return cut;
}

void DynamicEngine::fill_report(const Told& told, const RunTotals& totals, RunReport& report) const {
    report.stages_elapsed_s = told.elapsed_s;
    report_totals(structure_, totals, report);
    report.stages.push_back({0, structure_.units.size(), told.threads});
    const std::vector<std::uint32_t> token_counts = tokens();
    for (std::size_t s = 0; s < plan_.segments.size(); ++s) {
        report.segments.push_back(
            {token_counts[s], token_counts[s] * aligned(plan_.segments[s].token_bytes), options_.workers, 0});
    }
    for (std::size_t step = 0; step < totals.step_times.size(); ++step) {
        std::uint64_t& frames = report.segments[structure_.order[step].segment].frames;
        frames = std::max(frames, totals.step_times[step].count());
    }
    if (options_.emulation) report.emulated = bridge::to_string(*options_.emulation);
    told.times.tell(report);
}

}  // namespace tidemill
