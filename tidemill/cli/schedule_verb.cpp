#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/scheduling_options.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/json/text_file.hpp"
#include "tidemill/schedule/profile_file.hpp"
#include "tidemill/schedule/schedule_file.hpp"
#include "tidemill/schedule/strategy.hpp"

namespace tidemill::cli {

namespace {

struct Options {
    std::string chain;
    std::string batch;
    std::string strategy = "herad";
    std::string objective = "cores";
    std::string leave_free;
    double period_us = 0;
    double rate_hz = 0;
    MachineOptions machine;
    std::string output;
    bool json = false;
};

Objective objective_of(const Options& options, const Profile& profile, const Platform& platform) {
    Objective objective{.among_equals = *parse_preference(options.objective)};
    if (options.period_us > 0) objective.wanted_period_us = options.period_us;
    if (options.rate_hz > 0)
        objective.wanted_period_us = 1e6 * profile.frames_per_execution / options.rate_hz;
    if (options.leave_free.empty()) return objective;
    usage_of("--free", [&] {
        objective.leave_free = parse_platform(options.leave_free);
        usable(platform, objective);
    });
    return objective;
}

void say_if_out_of_reach(const Objective& objective, const Schedule& schedule) {
    constexpr double kRounding = 1 + 1e-9;
    if (objective.wanted_period_us && *schedule.period_us > *objective.wanted_period_us * kRounding)
        fmt::print(stderr, "no schedule reaches a period of {:.2f} us; the best there is has {:.2f} us\n",
                   *objective.wanted_period_us, *schedule.period_us);
}

int run_one(const Options& options) {
    const Profile profile = read_profile(options.chain);
    const Platform platform = platform_of(options.machine, profile);
    const Model model = model_of(options.machine, profile);
    const Objective objective = objective_of(options, profile, platform);
    const Schedule schedule = strategy(options.strategy).schedule(profile, platform, objective, model);
    say_if_out_of_reach(objective, schedule);
    if (!options.output.empty()) write_schedule(schedule, options.output);
    if (options.json) {
        fmt::print("{}\n", result_json(schedule, profile, platform, model).dump(2));
        return kDone;
    }
    fmt::print("{}", to_table(schedule, profile, model));
    if (model.has_power()) fmt::print("power {:.3f} W\n", power_w(schedule, platform, model));
    return kDone;
}

nlohmann::ordered_json batch_result(const Options& options, const Profile& profile) {
    const Platform platform = platform_of(options.machine, profile);
    const Model model = model_of(options.machine, profile);
    const Schedule schedule =
        strategy(options.strategy)
            .schedule(profile, platform, objective_of(options, profile, platform), model);
    return result_json(schedule, profile, platform, model);
}

// One result a line out; a line that cannot be used is answered with its error, and the others go on.
int run_lines(const Options& options, std::istream& lines) {
    int status = kDone;
    int number = 0;
    for (std::string line; next_line(lines, line);) {
        ++number;
        const std::string place = fmt::format("{}:{}", options.batch, number);
        nlohmann::ordered_json result{{"line", number}};
        try {
            const Profile profile = parse_profile(line, place);
            result.update(batch_result(options, profile));
        } catch (const Error& error) {
            const std::string_view what = error.what();
            result["error"] =
                what.starts_with(place) ? std::string(what) : fmt::format("{}: {}", place, what);
            status = kUnusableInput;
        }
        fmt::print("{}\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return status;
}

int run_batch(const Options& options) {
    if (options.batch == "-") return run_lines(options, std::cin);
    std::ifstream file(options.batch);
    if (!file) throw ScheduleError(fmt::format("{}: cannot be opened; check the name", options.batch));
    return run_lines(options, file);
}

int run_schedule(const Options& options) {
    if (options.chain.empty() == options.batch.empty())
        throw WrongUsage("give either a chain file or --batch FILE");
    if (!options.batch.empty() && !options.output.empty())
        throw WrongUsage("-o is for one chain; --batch writes its results to standard output");
    if (options.period_us > 0 && options.rate_hz > 0) throw WrongUsage("give either --period or --rate");
    usage_of("--strategy", [&] { strategy(options.strategy); });
    return options.batch.empty() ? run_one(options) : run_batch(options);
}

std::string strategy_names() {
    std::string names;
    for (const Strategy& each : strategies()) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

void add_objective_options(Verb& verb, Options& options) {
    verb.choice(
        "--objective", options.objective, {"cores", "power", "stages"},
        "What decides between equal periods: fewest cores, big ones first, as published, least power, by "
        "--watts, or fewest stages");
    verb.option("--period", options.period_us, "A period in us up to which all are equal")
        .in(above(0))
        .shows("");
    verb.option("--rate", options.rate_hz, "The same as a wanted rate, in source frames a second")
        .in(above(0))
        .shows("");
    verb.option("--free", options.leave_free, "Cores to leave free, e.g. little=1");
}

}  // namespace

void add_schedule(Verb& program) {
    auto options = std::make_shared<Options>();
    Verb& verb = program.verb("schedule", "Find the best schedule of a profiled chain");
    verb.footer(
        "Example: tidemill schedule profile.json --cores big=4,little=4 -o schedule.json\n"
        "         tidemill schedule profile.json --objective power --watts big=1.0,little=0.25 --rate 5000\n"
        "         tidemill schedule --batch chains.jsonl --strategy 2catac --json");
    verb.option("chain", options->chain, "Profile or chain file (JSON)").is(Kind::input_file);
    verb.option("--batch", options->batch,
                "File with one chain and its cores in each line (- for standard input); one result a line")
        .is(Kind::input_place);
    verb.option("--strategy", options->strategy, fmt::format("One of: {}", strategy_names()));
    add_objective_options(verb, *options);
    add_machine_options(verb, options->machine);
    verb.option("-o,--output", options->output, "Write a schedule file").is(Kind::output_file);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_schedule(*options); });
}

}  // namespace tidemill::cli
