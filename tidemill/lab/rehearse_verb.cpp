#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/running/app_job.hpp"
#include "tidemill/lab/lab_verbs.hpp"
#include "tidemill/lab/rehearsal.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill::cli {

namespace {

struct RehearseOptions {
    std::string chain;
    bool spin = false;
    std::vector<std::string> changes;
    AppRunOptions run{.running = {.how = {.frames = 1000}}};
};

// Waiting threads need no core of their own, and stand in for kinds of cores that are not here. A schedule
// says itself which it uses.
RunConfig how_of(const RehearseOptions& options, const Profile& profile) {
    RunConfig how = options.run.running.how;
    how.pinned = options.spin;
    const bool needs_cores =
        (how.executor == ExecutorKind::pipeline && !how.schedule) || how.executor == ExecutorKind::dynamic;
    if (needs_cores) platform_of(how.scheduling, profile);
    model_of(how.scheduling, profile);
    return how;
}

int run_rehearsal(const RehearseOptions& options) {
    std::vector<CostChange> changes;
    for (const std::string& text : options.changes) changes.push_back(parse_cost_change(text));
    const Profile profile = read_profile(options.chain);
    const Topology topology = topology_by(options.run.running.kinds);
    GraphRun run(how_of(options, profile), topology);
    run.prepare_for(profile);
    announce(run, promised_period(run));

    const ExactTimers exact;
    Rehearsal rehearsal(profile, options.spin ? Pastime::computing : Pastime::waiting, changes);
    WatchedRun watched(options.run.running, rehearsal.graph());
    watched.ends_with([&] { rehearsal.end(); });
    watched.go(run, {.statistics = options.run.stats || options.run.json, .observers = rehearsal.observers()},
               {}, [&](const Schedule& schedule) { rehearsal.follow(schedule); });
    watched.write(run);
    const AppOutcome outcome = outcome_of(options.chain, run, watched);
    print("{}", options.run.json ? report_json(outcome) + "\n" : report_text(outcome, options.run.stats));
    return kDone;
}

}  // namespace

void add_rehearse(Verb& program) {
    auto options = std::make_shared<RehearseOptions>();
    Verb& verb = program.verb(
        "rehearse",
        "Rehearse a chain: real threads whose tasks take what the profile says, by its best schedule");
    verb.alias("run");
    verb.footer(
        "Waiting tasks stand in for cores that this machine does not have; --spin keeps real ones busy.\n"
        "Example: tidemill rehearse data/profiles/dvbs2-rx-opi5.json --adapt --change 500:Radio.receive=3");
    verb.option("chain", options->chain, "Profile or chain file (JSON)").is(Kind::input_file).required();
    verb.flag("--spin", options->spin, "Tasks compute, pinned to this machine's cores; else they wait");
    verb.option("--change", options->changes,
                "FRAME:TASK=FACTOR: from that frame on, the task takes so many times as long");
    add_run_options(verb, options->run);
    verb.does([options] { return run_rehearsal(*options); });
}

}  // namespace tidemill::cli
