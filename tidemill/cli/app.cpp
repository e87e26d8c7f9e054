#include "tidemill/cli/app.hpp"

#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/app_job.hpp"
#include "tidemill/cli/command.hpp"
#include "tidemill/cli/cores.hpp"
#include "tidemill/cli/profile_table.hpp"
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

void add_run_options(CLI::App& verb, AppRunOptions& options) {
    verb.add_option("--executor", options.executor,
                    "pipeline; sequence: in order on one thread; threads: one per task, left to the system")
        ->check(CLI::IsMember({"pipeline", "sequence", "threads"}))
        ->capture_default_str();
    verb.add_option("--replicas", options.replicas, "With threads: of each task that may have them")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    auto* batch = verb.add_option("--batch", options.batch, "Frames that stages hand over at a time")
                      ->check(CLI::Range(1, 1 << 20))
                      ->capture_default_str();
    verb.add_option("--latency-us", options.latency_us,
                    "Latency to stay below: as much may wait between stages as that allows")
        ->check(CLI::PositiveNumber)
        ->excludes(batch);
    verb.add_option("--cores", options.cores, "Cores to use, e.g. big=2 (default: all)");
    verb.add_option("--schedule", options.schedule, "Schedule file to run by; auto: profile, and make one")
        ->capture_default_str();
    verb.add_option("--strategy", options.strategy, "Strategy that makes the schedule")
        ->capture_default_str();
    verb.add_option("--model", options.model,
                    "Model file, as calibrate writes it: costs and slowdowns that count");
    verb.add_option("--profile-seconds", options.profile_s, "How long to profile each kind of core")
        ->check(CLI::Range(0.01, 600.0))
        ->capture_default_str();
    add_run_limits(verb, options);
}

}  // namespace

void add_run_limits(CLI::App& verb, AppRunOptions& options) {
    verb.add_option("--frames", options.frames, "End after this many source frames")
        ->check(CLI::PositiveNumber);
    verb.add_option("--seconds", options.seconds, "End after this time")->check(CLI::PositiveNumber);
    add_adapt_options(verb, options.adapt);
    verb.add_option("--energy-meter", options.energy_meter,
                    "auto, none, powercap, perf, battery, hwmon, file:PATH or command:TEXT")
        ->capture_default_str();
    add_insight_options(verb, options.insight);
    verb.add_flag("--stats", options.stats, "Times of each task, stage and frame");
    verb.add_flag("--json", options.json, "One JSON object on standard output");
}

namespace {

void add_app_run(CLI::App& app, const AppProgram& program, Command& chosen) {
    auto options = std::make_shared<AppRunOptions>();
    CLI::App* verb = app.add_subcommand("run", "Run the program: profile and schedule it, or as you say");
    verb->footer(fmt::format("Example: {} run --cores big=2 --stats", program.name));
    add_run_options(*verb, *options);
    verb->callback([options, &program, &chosen] {
        chosen = [options, &program] { return run_run(program, *options); };
    });
}

void add_app_profile(CLI::App& app, const AppProgram& program, Command& chosen) {
    auto options = std::make_shared<ProfileOptions>();
    CLI::App* verb = app.add_subcommand(
        "profile", "Weigh the tasks on each kind of core, in microseconds per source frame");
    verb->footer(fmt::format("Example: {} profile -o profile.json", program.name));
    verb->add_option("-o,--output", options->output, "Write a profile file");
    verb->add_option("--cores", options->cores, "Kinds of cores to profile, e.g. big=1 (default: all)");
    verb->add_option("--seconds", options->seconds, "How long to profile each kind of core")
        ->check(CLI::Range(0.01, 600.0))
        ->capture_default_str();
    verb->add_flag("--json", options->json, "One JSON object on standard output");
    verb->callback([options, &program, &chosen] {
        chosen = [options, &program] { return run_profile(program, *options); };
    });
}

void add_variable(CLI::App& app, const std::string& name, const App::Variable& variable,
                  const std::string& help) {
    std::visit(
        [&](auto* value) {
            if constexpr (std::is_same_v<decltype(value), bool*>) {
                app.add_flag(name, *value, help);
            } else {
                app.add_option(name, *value, help)->capture_default_str();
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
    CLI::App app{fmt::format("{}\nExample: {} run --stats", about_, name_), name_};
    cli::Command chosen;
    try {
        // The program's own options may stand before or after the verb.
        app.require_subcommand(1)->fallthrough();
        for (const Option& each : options_) cli::add_variable(app, each.name, each.variable, each.help);
        cli::add_app_run(app, program, chosen);
        cli::add_app_profile(app, program, chosen);
        cli::add_schedule(app, chosen);
        cli::add_topo(app, chosen);
        app.parse(argc, argv);
    } catch (const CLI::Error& error) {
        return app.exit(error) == 0 ? cli::kDone : cli::kWrongUsage;
    }
    return cli::run_command(chosen, name_);
}

}  // namespace tidemill
