#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/scheduling/dynamic/policy.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"
#include "tidemill/scheduling/unequal/emulation.hpp"
#include "tidemill/scheduling/unequal/known_tasks.hpp"
#include "tidemill/tuning/choose/choice_file.hpp"

namespace tidemill::cli {

namespace {

std::string checked_policy(const std::string& names) {
    policy::make_policy(names, 1);
    return names;
}

std::shared_ptr<const bridge::Emulation> parse_emulation(const std::string& text) {
    return std::make_shared<bridge::Emulation>(bridge::parse_emulation(text));
}

std::shared_ptr<const bridge::FactorFile> read_factors(const std::string& path) {
    return std::make_shared<bridge::FactorFile>(bridge::read_known_tasks(path));
}

void add_executor_options(Verb& verb, RunConfig& how) {
    verb.choice("--executor", how.executor,
                {{"auto", ExecutorKind::automatic},
                 {"pipeline", ExecutorKind::pipeline},
                 {"sequence", ExecutorKind::sequence},
                 {"threads", ExecutorKind::threads},
                 {"dynamic", ExecutorKind::dynamic}},
                "Whichever of these is fastest here, found out while it runs; stages by a schedule; in order "
                "on one "
                "thread; a thread per task, left to the system; or workers that take what a policy says")
        .common();
    verb.flag("--fresh", how.fresh, "With auto: do not start with what another run has chosen");
    verb.option("--replicas", how.replicas, "With threads: of each task that may have them")
        .in(between(1, 64));
    verb.parsed(
            "--policy", how.policy, checked_policy,
            "With dynamic: which ready task runs first; several with commas, each breaking the ties of those "
            "before")
        .shows(how.policy);
    verb.parsed(
            "--emulate", how.emulation, parse_emulation,
            "With dynamic: cores that are made slower, KIND=RATIO or KIND=FILE with a ratio for each task; "
            "several with commas")
        .shows("all cores are real");
    verb.flag(
        "--any-core", how.places,
        "With dynamic on several kinds of cores: workers take any ready task, not what their kind is good at",
        false);
    verb.file(
            "--factors", how.factors, read_factors,
            "With dynamic: what tasks take on each kind of core, a file of --remember or a profile: nothing "
            "is tried to find it out")
        .excludes("--any-core");
    verb.option(
            "--remember", how.remember,
            "With dynamic: go on from what this file knows of tasks on kinds of cores, if it is there, and "
            "write what is known in the end")
        .is(Kind::output_file)
        .excludes("--factors");
    verb.choice("--waiting", how.waiting,
                {{"mixed", WaitMode::mixed}, {"passive", WaitMode::passive}, {"active", WaitMode::active}},
                "How threads wait: spin for a moment, then sleep; sleep at once; or spin")
        .shows("mixed where threads are pinned, else passive");
    verb.option("--batch", how.batch, "Frames that stages hand over at a time").in(between(1, 1 << 20));
    verb.option("--batch-wait-us", how.batch_wait_us,
                "How long the first frame of a batch for a device waits for the others")
        .in(at_least(0))
        .shows("twice what they should take");
    verb.option("--latency-us", how.latency_us,
                "Latency to stay below: as much may wait between stages as that allows")
        .in(above(0))
        .excludes("--batch");
}

void add_end_options(Verb& verb, RunConfig& how) {
    verb.option("--frames", how.frames, "End after this many source frames").in(at_least(1)).common();
    verb.option("--seconds", how.seconds, "End after this time").is(Kind::seconds).in(above(0)).common();
}

void add_schedule_options(Verb& verb, RunConfig& how) {
    const auto read = [&how](const std::string& path) {
        how.schedule_file = path;
        return read_schedule(path);
    };
    verb.file("--schedule", how.schedule, read, "Schedule file to run by; auto: make one").or_auto().common();
    add_machine_options(verb, how.scheduling);
    add_objective_options(verb, how.scheduling);
    verb.option("--profile-seconds", how.profile_s, "How long to profile each kind of core")
        .is(Kind::seconds)
        .in(between(0.01, 600));
    verb.flag("--adapt", how.adapt,
              "Profile the tasks while they run, and change the schedule or the executor when that pays");
    verb.option("--adapt-every", how.adapt_every_s, "Seconds between two looks")
        .is(Kind::seconds)
        .in(between(0.01, 3600));
    verb.option("--adapt-threshold", how.adapt_threshold, "Part of the period that a change must save")
        .in(between(0, 0.99));
}

}  // namespace

void add_running_options(Verb& verb, RunningOptions& options, RunEnds ends) {
    options.how.choices = usual_choice_file();
    verb.heading("Execution");
    add_executor_options(verb, options.how);
    if (ends == RunEnds::as_asked) add_end_options(verb, options.how);
    verb.heading("Schedule");
    add_schedule_options(verb, options.how);
    add_kinds_option(verb, options.kinds);
    verb.heading("Observation");
    add_insight_options(verb, options.insight);
    verb.option("--energy-meter", options.energy_meter,
                "auto, none, powercap, hwmon:CHIP/LABEL, nvml, file:PATH or command:TEXT");
}

}  // namespace tidemill::cli
