#include "tidemill/cli/app.hpp"

#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/app_job.hpp"
#include "tidemill/cli/cores.hpp"
#include "tidemill/cli/profile_table.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/schedule/profile_file.hpp"

namespace tidemill {

namespace cli {

namespace {

struct ProfileOptions {
    std::string output;
    std::string cores;
    double seconds = 1;
    bool json = false;
};

int run_profile(const AppProgram& program, const ProfileOptions& options) {
    const Topology topology = Topology::here();
    const Platform platform = chosen_platform(options.cores, topology);
    const Profile profile = profile_app(program, topology, platform, options.seconds);
    if (!options.output.empty()) write_profile(profile, options.output);
    fmt::print("{}", options.json ? to_json(profile) : profile_table(profile));
    return kDone;
}

int run_run(const AppProgram& program, const AppRunOptions& options) {
    if (options.schedule != "auto" && !options.cores.empty())
        throw WrongUsage("--cores is for --schedule auto; a schedule file says which cores it uses");
    const AppOutcome outcome = run_app(program, options);
    fmt::print("{}", options.json ? report_json(outcome) + "\n" : report_text(outcome, options.stats));
    return kDone;
}

void add_run_options(Verb& verb, AppRunOptions& options) {
    verb.choice("--executor", options.executor, {"pipeline", "sequence", "threads"},
                "Pipeline; sequence: in order on one thread; threads: one per task, left to the system");
    verb.option("--replicas", options.replicas, "With threads: of each task that may have them")
        .in(between(1, 64));
    verb.option("--batch", options.batch, "Frames that stages hand over at a time").in(between(1, 1 << 20));
    verb.option("--latency-us", options.latency_us,
                "Latency to stay below: as much may wait between stages as that allows")
        .in(above(0))
        .shows("")
        .excludes("--batch");
    verb.option("--cores", options.cores, "Cores to use, e.g. big=2 (default: all)");
    verb.option("--schedule", options.schedule, "Schedule file to run by; auto: profile, and make one");
    verb.option("--strategy", options.strategy, "Strategy that makes the schedule");
    verb.option("--model", options.model,
                "Model file, as calibrate writes it: costs and slowdowns that count")
        .is(Kind::input_file);
    verb.option("--profile-seconds", options.profile_s, "How long to profile each kind of core")
        .is(Kind::seconds)
        .in(between(0.01, 600.0));
    add_run_limits(verb, options);
}

}  // namespace

void add_run_limits(Verb& verb, AppRunOptions& options) {
    verb.option("--frames", options.frames, "End after this many source frames").in(at_least(1)).shows("");
    verb.option("--seconds", options.seconds, "End after this time").is(Kind::seconds).in(above(0)).shows("");
    add_adapt_options(verb, options.adapt);
    verb.option("--energy-meter", options.energy_meter,
                "auto, none, powercap, perf, battery, hwmon, file:PATH or command:TEXT");
    add_insight_options(verb, options.insight);
    verb.flag("--stats", options.stats, "Times of each task, stage and frame");
    verb.flag("--json", options.json, "One JSON object on standard output");
}

namespace {

void add_app_run(Verb& app, const AppProgram& program) {
    auto options = std::make_shared<AppRunOptions>();
    Verb& verb = app.verb("run", "Run the program: profile and schedule it, or as you say");
    verb.footer(fmt::format("Example: {} run --cores big=2 --stats", program.name));
    add_run_options(verb, *options);
    verb.does([options, &program] { return run_run(program, *options); });
}

void add_app_profile(Verb& app, const AppProgram& program) {
    auto options = std::make_shared<ProfileOptions>();
    Verb& verb =
        app.verb("profile", "Weigh the tasks on each kind of core, in microseconds per source frame");
    verb.footer(fmt::format("Example: {} profile -o profile.json", program.name));
    verb.option("-o,--output", options->output, "Write a profile file").is(Kind::output_file);
    verb.option("--cores", options->cores, "Kinds of cores to profile, e.g. big=1 (default: all)");
    verb.option("--seconds", options->seconds, "How long to profile each kind of core")
        .is(Kind::seconds)
        .in(between(0.01, 600.0));
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options, &program] { return run_profile(program, *options); });
}

void add_variable(Verb& app, const std::string& name, const App::Variable& variable,
                  const std::string& help) {
    std::visit(
        [&](auto* value) {
            if constexpr (std::is_same_v<decltype(value), bool*>) {
                app.flag(name, *value, help);
            } else {
                app.option(name, *value, help);
            }
        },
        variable);
}

}  // namespace

}  // namespace cli

App& App::about(std::string text) {
    about_ = std::move(text);
    return *this;
}

App& App::option(std::string name, Variable variable, std::string help) {
    options_.push_back({std::move(name), variable, std::move(help)});
    return *this;
}

int App::run(int argc, const char* const* argv) const {
    const cli::AppProgram program{name_, build_};
    cli::Verb app(name_, about_);
    app.footer(fmt::format("Example: {} run --stats", name_));
    for (const Option& each : options_) cli::add_variable(app, each.name, each.variable, each.help);
    cli::add_app_run(app, program);
    cli::add_app_profile(app, program);
    cli::add_schedule(app);
    cli::add_topo(app);
    return cli::run_command_line(app, argc, argv);
}

}  // namespace tidemill
