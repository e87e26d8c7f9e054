#include "tidemill/apps/running/app.hpp"

#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/running/app_job.hpp"
#include "tidemill/apps/running/app_verbs.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/profile_table.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill {

namespace cli {

namespace {

struct ProfileVerb {
    std::string output;
    std::string kinds;
    ProfileOptions how{.seconds = 1};
    bool json = false;
};

int run_profile(const AppProgram& program, ProfileVerb verb) {
    const Topology topology = topology_by(verb.kinds);
    verb.how.cores = cores_here(verb.how.cores, topology);
    const Profile profile = profile_app(program, topology, verb.how);
    for (const std::string& warning : profile.warnings) warn(warning);
    if (!verb.output.empty()) writing([&] { write_profile(profile, verb.output); });
    print("{}", verb.json ? to_json(profile) : profile_table(profile));
    return kDone;
}

int run_run(const AppProgram& program, const AppRunOptions& options) {
    const AppOutcome outcome = run_app(program, options);
    print("{}", options.json ? report_json(outcome) + "\n" : report_text(outcome, options.stats));
    return kDone;
}

void add_app_run(Verb& app, const AppProgram& program) {
    auto options = std::make_shared<AppRunOptions>();
    options->running.how.executor = ExecutorKind::automatic;
    Verb& verb = app.verb("run", "Run the program by whatever is fastest here, or as you say");
    verb.footer(fmt::format("Example: {} run --cores big=2 --stats", program.name));
    add_run_options(verb, *options);
    add_knob_options(verb, *options);
    verb.does([options, &program] { return run_run(program, *options); });
}

void add_app_profile(Verb& app, const AppProgram& program) {
    auto options = std::make_shared<ProfileVerb>();
    Verb& verb =
        app.verb("profile", "Profile the tasks on each kind of core, in microseconds per source frame");
    verb.footer(fmt::format("Example: {} profile -o profile.json", program.name));
    verb.option("-o,--output", options->output, "Write a profile file").is(Kind::output_file);
    verb.parsed("--cores", options->how.cores, parse_platform, "Kinds of cores to profile, e.g. big=1")
        .shows("all");
    verb.option("--seconds", options->how.seconds, "How long to profile each kind of core")
        .is(Kind::seconds)
        .in(between(0.01, 600.0));
    add_kinds_option(verb, options->kinds);
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
