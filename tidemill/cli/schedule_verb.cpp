#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/schedule_json.hpp"
#include "tidemill/schedule/profile_file.hpp"
#include "tidemill/schedule/schedule_file.hpp"
#include "tidemill/schedule/strategy.hpp"

namespace tidemill::cli {

namespace {

struct Options {
    std::string chain;
    std::string strategy = "herad";
    std::string cores;
    std::string output;
    bool json = false;
};

int run_schedule(const Options& options) {
    const Profile profile = read_profile(options.chain);
    const Platform platform = parse_platform(options.cores);
    const Schedule schedule = strategy(options.strategy).schedule(profile, platform);
    if (!options.output.empty()) write_schedule(schedule, options.output);
    if (options.json) {
        fmt::print("{}\n", schedule_json(schedule, profile).dump(2));
    } else {
        fmt::print("{}", to_table(schedule, profile));
    }
    return kDone;
}

std::string strategy_names() {
    std::string names;
    for (const Strategy& each : strategies()) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

}  // namespace

void add_schedule(CLI::App& program, Command& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = program.add_subcommand("schedule", "Find the best schedule of a profiled chain");
    verb->footer(fmt::format("Example: {} schedule profile.json --cores big=4,little=4 -o schedule.json",
                             program.get_name()));
    verb->add_option("chain", options->chain, "Profile or chain file (JSON)")->required();
    verb->add_option("--cores", options->cores, "Cores that may be used, e.g. big=4,little=4")->required();
    verb->add_option("--strategy", options->strategy, fmt::format("One of: {}", strategy_names()))
        ->capture_default_str();
    verb->add_option("-o,--output", options->output, "Write a schedule file");
    verb->add_flag("--json", options->json, "One JSON object on standard output");
    verb->callback([options, &chosen] { chosen = [options] { return run_schedule(*options); }; });
}

}  // namespace tidemill::cli
