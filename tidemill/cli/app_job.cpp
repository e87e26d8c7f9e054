#include "tidemill/cli/app_job.hpp"

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
            .executor = run.how().executor,
            .profile = run.profile(),
            .schedule = run.schedule(),
            .predicted_period_us = run.predicted_period_us(),
            .run = watched.report(),
            .changes = run.changes(),
            .interrupted = watched.interrupted(),
            .result = {}};
}

AppOutcome run_app(const AppProgram& program, const AppRunOptions& options) {
    const Topology topology = Topology::here();
    GraphRun run(options.running.how, topology);
    run.prepare([&](const ProfileOptions& how) { return profile_app(program, topology, how); });
    announce(run, promised_period(run));
    Graph graph(program.name);
    const App::Outcome tell = program.build(graph);
    WatchedRun watched(options.running, graph);
    watched.go(run, {.statistics = options.stats || options.json});
    watched.write(run);
    AppOutcome outcome = outcome_of(program.name, run, watched);
    if (tell) outcome.result = tell();
    return outcome;
}

void add_run_options(Verb& verb, AppRunOptions& options) {
    verb.flag("--stats", options.stats, "Times of each task, stage and frame");
    verb.flag("--json", options.json, "One JSON object on standard output");
    add_running_options(verb, options.running);
}

}  // namespace tidemill::cli
