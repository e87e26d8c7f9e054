#include "tidemill/run/dynamic/dynamic_engine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/bridge/emulation.hpp"
#include "tidemill/graph/arena.hpp"
#include "tidemill/platform/energy_watch.hpp"
#include "tidemill/platform/tick_clock.hpp"
#include "tidemill/run/dynamic/kind_times.hpp"
#include "tidemill/run/dynamic/task_crew.hpp"
#include "tidemill/run/end_frames.hpp"
#include "tidemill/run/journal/journaled_run.hpp"
#include "tidemill/run/late.hpp"
#include "tidemill/run/observed_run.hpp"
#include "tidemill/run/run_error.hpp"

namespace tidemill {

DynamicEngine::DynamicEngine(Graph& graph, DynamicOptions options)
    : graph_(graph),
      graph_size_(graph.size()),
      options_(std::move(options)),
      structure_(structure_of(graph)),
      plan_(compile_apart(graph, structure_)),
      units_(dynamic_units_of(graph, structure_, plan_)),
      knobs_(graph) {
    check();
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

void DynamicEngine::check() const {
    if (options_.workers == 0) throw GraphError("dynamic scheduling with 0 workers: give 1 or more");
    const auto check_count = [this](const char* what, std::size_t given) {
        if (given == 0 || given == options_.workers) return;
        throw GraphError(fmt::format("{} are given for {} workers, there are {}: give one for each, or none",
                                     what, given, options_.workers));
    };
    check_count("sets of cores", options_.cores.size());
    check_count("kinds of cores", options_.kinds.size());
    policy::make_policy(options_.policy, kinds());
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
    return std::vector<std::uint32_t>(structure_.segments, static_cast<std::uint32_t>(frames));
}

RunReport DynamicEngine::run(const RunOptions& options) {
    return go(options, /*anew=*/true);
}

RunReport DynamicEngine::resume(const RunOptions& options) {
    RunOptions rest = options;
    if (options.finish) rest.frames = 0;
    return go(rest, /*anew=*/false);
}

RunReport DynamicEngine::go(const RunOptions& options, bool anew) {
    using Clock = std::chrono::steady_clock;
    RunReport report;
    if (options.late != Late::wait && !options.replay)
        throw RunError(
            "dynamic workers ask a source only when there is room: drop late frames in a Pipeline");
    if (options.replay) check_may_drop(plan_);
    Graph::Running running(graph_, graph_size_);
    if (anew) knobs_.restart();
    place_ = &running.place();
    begin_stream(*place_, graph_, structure_.segments, anew);
    JournaledRun journaled(options, graph_, knobs_, place_->next_frames.front());
    const ObservedRun observed(options.observers);
    EnergyWatch energy(options.energy_meter);
    const Clock::time_point start = Clock::now();
    TaskCrew::Settings settings;
    settings.board.policy = options_.policy;
    settings.board.adapting = options_.adapting;
    settings.board.kinds = kinds();
    settings.board.tokens = tokens();
    settings.board.first_frames = place_->next_frames;
    settings.board.frames = journaled.frames();
    settings.board.stop_when = options.stop_when;
    settings.board.bundle_ticks =
        static_cast<std::uint64_t>(static_cast<double>(options_.bundle.count()) / ns_per_tick());
    settings.board.branches = plan_.branches;
    settings.board.latencies = options.statistics || !options.observers.empty();
    settings.waiting = options_.waiting;
    settings.cores = options_.cores;
    settings.kind_names = kind_names();
    settings.emulation = options_.emulation;
    TaskCrew crew(graph_, plan_, units_, settings, options, knobs_);
    {
        const std::stop_callback end_on_request(options.stop, [&] { crew.halt(); });
        crew.run(pool_);
    }
    if (crew.board().ended()) knobs_.end();
    report.stages_elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    crew.board().rethrow();
    place_->next_frames = crew.next_frames();
    journaled.end(place_->next_frames.front(), crew.board().ended());
    RunTotals totals;
    crew.add_to(totals);
    end_stream(options, crew.board().stopped_by(), totals);
    report.elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    report.energy = energy.stop();
    fill_report(crew, totals, report);
    return report;
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

void DynamicEngine::end_stream(const RunOptions& options, std::optional<StreamStop> stopped_by,
                               RunTotals& totals) {
    if (structure_.ends.empty() || !(stopped_by || options.finish)) return;
    place_->has_ended = true;
    run_end_frames(graph_, structure_, cut_at_end(), options, {place_->next_frames, stopped_by, knobs_},
                   pool_, totals);
}

void DynamicEngine::fill_report(const TaskCrew& crew, const RunTotals& totals, RunReport& report) const {
    report_totals(structure_, totals, report);
    report.stages.push_back({0, structure_.units.size(), crew.thread_reports()});
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
    KindTimes times(structure_, kinds(), kind_names());
    for (policy::KindId kind = 0; kind < times.kinds(); ++kind) times.add(kind, crew.step_times_on(kind));
    times.tell(report);
}

}  // namespace tidemill
