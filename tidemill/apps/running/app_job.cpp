#include "tidemill/apps/running/app_job.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/knob_options.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill::cli {

double AppOutcome::period_us() const {
    return run.frames > 0 ? run.elapsed_s * 1e6 / static_cast<double>(run.frames) : 0;
}

Profile profile_app(const AppProgram& program, const Topology& topology, const ProfileOptions& how) {
    Profiler profiler(topology, how);
    for (const CoreKind* const kind : profiler.kinds()) {
        Graph graph(program.name);
        program.build(graph);
        profiler.profile(graph, *kind);
    }
    return profiler.profile();
}

AppOutcome outcome_of(std::string program, const GraphRun& run, const WatchedRun& watched) {
    return {.program = std::move(program),
            .executor = run.executor(),
            .profile = run.profile(),
            .schedule = run.schedule(),
            .model = run.model(),
            .predicted_period_us = run.predicted_period_us(),
            .account = account_of(run),
            .run = watched.report(),
            .changes = run.changes(),
            .interrupted = watched.interrupted(),
            .result = {}};
}

namespace {

std::unique_ptr<Journal> journal_of(const std::string& path) {
    if (path.empty()) return nullptr;
    return std::make_unique<Journal>(std::filesystem::path(path));
}

std::chrono::nanoseconds in_ns(double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

AppOutcome run_app(const AppProgram& program, const AppRunOptions& options) {
    const Topology topology = topology_by(options.running.kinds);
    RunConfig wanted = options.running.how;
    // Only what has threads beside the source can have no room for a frame, and dynamic workers drop none.
    const bool drops = options.late != Late::wait || options.replay;
    if (drops && wanted.executor == ExecutorKind::automatic) wanted.executor = ExecutorKind::pipeline;
    GraphRun run(std::move(wanted), topology);
    run.prepare([&](const ProfileOptions& how) { return profile_app(program, topology, how); });
    announce(run, promised_period(run));
    Graph graph(program.name);
    const App::Outcome tell = program.build(graph);
    WatchedRun watched(options.running, graph);
    RunOptions how{.statistics = options.stats || options.json, .knobs = knob_settings(options.set, graph)};
    if (options.replay) how.replay = &*options.replay;
    const std::unique_ptr<Journal> journal = journal_of(options.journal);
    how.journal = journal.get();
    how.late = options.late;
    if (how.late != Late::wait && run.how().executor == ExecutorKind::sequence)
        warn("--late: in sequence each frame is done before the next begins, so none is ever dropped");
    how.deadline = in_ns(options.deadline_s);
    CheckpointedRun kept(options.checkpoint, graph);
    kept.put_into(how);
    watched.go(run, how);
    watched.write(run);
    AppOutcome outcome = outcome_of(program.name, run, watched);
    if (tell) outcome.result = tell();
    return outcome;
}

void add_knob_options(Verb& verb, AppRunOptions& options) {
    verb.heading("Outside events");
    verb.option("--set", options.set, "Values of knobs, those of a list with commas")
        .called("MODULE.KNOB=NUMBER")
        .common();
    verb.option("--journal", options.journal,
                "Write down what reaches the run from outside, and at which frames")
        .is(Kind::output_file);
    verb.file(
            "--replay", options.replay, [](const std::string& path) { return read_journal(path); },
            "Journal of another run: what reached that one reaches this one at the same frames")
        .excludes("--set");
    add_checkpoint_options(verb, options.checkpoint).excludes("--replay");
    verb.choice(
        "--late", options.late,
        {{"wait", Late::wait}, {"drop-newest", Late::drop_newest}, {"drop-oldest", Late::drop_oldest}},
        "What becomes of a source frame for which there is no room: the source waits, or the frame is "
        "dropped and counted");
    verb.option("--deadline", options.deadline_s, "Count frames that take longer")
        .is(Kind::seconds)
        .in(at_least(0));
}

void add_run_options(Verb& verb, AppRunOptions& options) {
    verb.flag("--stats", options.stats, "Times of each task, stage and frame").common();
    verb.flag("--json", options.json, "One JSON object on standard output").common();
    add_running_options(verb, options.running);
}

}  // namespace tidemill::cli
