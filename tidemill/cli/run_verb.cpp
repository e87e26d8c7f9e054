#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/app_job.hpp"
#include "tidemill/cli/rehearsal.hpp"
#include "tidemill/cli/scheduling_options.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/schedule/profile_file.hpp"
#include "tidemill/schedule/schedule_file.hpp"
#include "tidemill/schedule/strategy.hpp"

namespace tidemill::cli {

namespace {

struct Options {
    std::string chain;
    MachineOptions machine;
    bool spin = false;
    std::vector<std::string> changes;
    AppRunOptions run{.frames = 1000};
};

Schedule schedule_of(const Options& options, const Profile& profile, const Platform& cores,
                     const Model& model) {
    Schedule schedule = options.run.schedule == "auto"
                            ? strategy(options.run.strategy).schedule(profile, cores, {}, model)
                            : read_schedule(options.run.schedule);
    check(schedule, profile);
    // The graph calls its units after modules and tasks.
    schedule.task_names.clear();
    return schedule;
}

int run_run(const Options& options) {
    usage_of("--strategy", [&] { strategy(options.run.strategy); });
    std::vector<CostChange> changes;
    for (const std::string& text : options.changes) changes.push_back(parse_cost_change(text));
    AppOutcome outcome;
    outcome.program = options.chain;
    outcome.profile = read_profile(options.chain);
    outcome.model = model_of(options.machine, *outcome.profile);
    const Platform cores = platform_of(options.machine, *outcome.profile);
    outcome.schedule = schedule_of(options, *outcome.profile, cores, outcome.model);
    announce(outcome);

    const Topology topology = Topology::here();
    const ExactTimers exact;
    Rehearsal rehearsal(*outcome.profile, options.spin ? Pastime::spin : Pastime::wait, changes);
    rehearsal.follow(*outcome.schedule);
    AppRun how{.cores = cores, .changed = [&](const Schedule& next) { rehearsal.follow(next); }};
    // Threads that wait need no core of their own, and stand in for kinds of cores that are not here.
    if (options.spin) how.pipeline = {.topology = &topology, .waiting = WaitMode::mixed};
    run_graph(rehearsal.graph(), options.run, how, outcome);
    fmt::print("{}",
               options.run.json ? report_json(outcome) + "\n" : report_text(outcome, options.run.stats));
    return kDone;
}

}  // namespace

void add_run(Verb& program) {
    auto options = std::make_shared<Options>();
    Verb& verb = program.verb(
        "run", "Rehearse a chain: real threads whose tasks take what they weigh, by its best schedule");
    verb.footer(
        "Waiting tasks stand in for cores that this machine does not have; --spin keeps real ones busy.\n"
        "Example: tidemill run profile.json --cores big=2,little=2 --adapt --change 500:decode=3");
    verb.option("chain", options->chain, "Profile or chain file (JSON)").is(Kind::input_file).required();
    verb.option("--schedule", options->run.schedule, "Schedule file to run by; auto: make one");
    verb.option("--strategy", options->run.strategy, "Strategy that makes the schedule");
    add_machine_options(verb, options->machine);
    verb.flag("--spin", options->spin, "Tasks compute, pinned to this machine's cores; else they wait");
    verb.option("--change", options->changes,
                "FRAME:TASK=FACTOR: from that frame on, the task takes so many times as long");
    add_run_limits(verb, options->run);
    verb.does([options] { return run_run(*options); });
}

}  // namespace tidemill::cli
